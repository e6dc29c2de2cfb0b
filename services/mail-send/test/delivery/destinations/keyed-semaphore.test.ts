import { PATIENCE_MS } from '@restante/testkit'
import { KeyedSemaphore } from '../../../src/delivery/destinations/keyed-semaphore.ts'

const options = { mostWaiting: 3, maxWaitMs: PATIENCE_MS }

async function taken(slots: KeyedSemaphore, destination: string, most: number): Promise<() => void> {
  const free = await slots.take(destination, most)
  if (!free) throw new Error('no slot')
  return free
}

describe('KeyedSemaphore', () => {
  it('hands a slot to the waiting caller, and not also to one that arrives in between', async () => {
    const slots = new KeyedSemaphore({ ...options, maxWaitMs: 20 })
    const first = await taken(slots, 'slow.example', 1)
    const waiting = slots.take('slow.example', 1)
    first()
    const late = slots.take('slow.example', 1)
    expect(await waiting).toBeDefined()
    expect(await late).toBeUndefined()
  })

  it('refuses at once when too many callers are waiting', async () => {
    const slots = new KeyedSemaphore(options)
    const inside = await Promise.all([taken(slots, 'slow.example', 2), taken(slots, 'slow.example', 2)])
    const waiting = [1, 2, 3].map(() => taken(slots, 'slow.example', 2))
    expect(await slots.take('slow.example', 2)).toBeUndefined()
    expect(await slots.take('quick.example', 2)).toBeDefined()
    for (const free of inside) free()
    for (const next of waiting) (await next)()
    expect(await slots.take('slow.example', 2)).toBeDefined()
  })

  it('refuses a caller that has waited long enough', async () => {
    const slots = new KeyedSemaphore({ ...options, maxWaitMs: 20 })
    const free = await taken(slots, 'slow.example', 1)
    expect(await slots.take('slow.example', 1)).toBeUndefined()
    free()
    expect(await slots.take('slow.example', 1)).toBeDefined()
  })

  it('hands over no slot that a destination no longer has', async () => {
    const slots = new KeyedSemaphore({ ...options, maxWaitMs: 50 })
    const [first, second] = [await taken(slots, 'slow.example', 2), await taken(slots, 'slow.example', 2)]
    const waiting = slots.take('slow.example', 1)
    first()
    const late = slots.take('slow.example', 1)
    second()
    expect(await waiting).toBeDefined()
    expect(await late).toBeUndefined()
  })
})
