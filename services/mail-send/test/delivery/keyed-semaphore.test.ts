import { KeyedSemaphore } from '../../src/delivery/attempts/keyed-semaphore.ts'

const options = { most: 2, mostWaiting: 3, maxWaitMs: 10_000 }

async function taken(slots: KeyedSemaphore, destination: string): Promise<() => void> {
  const free = await slots.take(destination)
  if (!free) throw new Error('no slot')
  return free
}

describe('KeyedSemaphore', () => {
  it('hands a slot to the waiting caller, and not also to one that arrives in between', async () => {
    const slots = new KeyedSemaphore({ ...options, most: 1, maxWaitMs: 20 })
    const first = await taken(slots, 'slow.example')
    const waiting = slots.take('slow.example')
    first()
    const late = slots.take('slow.example')
    expect(await waiting).toBeDefined()
    expect(await late).toBeUndefined()
  })

  it('refuses at once when too many callers are waiting', async () => {
    const slots = new KeyedSemaphore(options)
    const inside = await Promise.all([taken(slots, 'slow.example'), taken(slots, 'slow.example')])
    const waiting = [1, 2, 3].map(() => taken(slots, 'slow.example'))
    expect(await slots.take('slow.example')).toBeUndefined()
    expect(await slots.take('quick.example')).toBeDefined()
    for (const free of inside) free()
    for (const next of waiting) (await next)()
    expect(await slots.take('slow.example')).toBeDefined()
  })

  it('refuses a caller that has waited long enough', async () => {
    const slots = new KeyedSemaphore({ ...options, most: 1, maxWaitMs: 20 })
    const free = await taken(slots, 'slow.example')
    expect(await slots.take('slow.example')).toBeUndefined()
    free()
    expect(await slots.take('slow.example')).toBeDefined()
  })
})
