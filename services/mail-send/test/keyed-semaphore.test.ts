import { KeyedSemaphore } from '../src/delivery/keyed-semaphore.ts'

const options = { most: 2, mostWaiting: 3, patienceMs: 10_000 }

async function taken(slots: KeyedSemaphore, destination: string): Promise<() => void> {
  const free = await slots.take(destination)
  if (!free) throw new Error('no slot')
  return free
}

describe('slots', () => {
  it('hand a slot over to who waits, and not also to who comes in between', async () => {
    const slots = new KeyedSemaphore({ ...options, most: 1, patienceMs: 20 })
    const first = await taken(slots, 'slow.example')
    const waiting = slots.take('slow.example')
    first()
    const late = slots.take('slow.example')
    expect(await waiting).toBeDefined()
    expect(await late).toBeUndefined()
  })

  it('turn away at once those who would fill the waiting room of all', async () => {
    const slots = new KeyedSemaphore(options)
    const inside = await Promise.all([taken(slots, 'slow.example'), taken(slots, 'slow.example')])
    const waiting = [1, 2, 3].map(() => taken(slots, 'slow.example'))
    expect(await slots.take('slow.example')).toBeUndefined()
    expect(await slots.take('quick.example')).toBeDefined()
    for (const free of inside) free()
    for (const next of waiting) (await next)()
    expect(await slots.take('slow.example')).toBeDefined()
  })

  it('are given up by who has waited long enough', async () => {
    const slots = new KeyedSemaphore({ ...options, most: 1, patienceMs: 20 })
    const free = await taken(slots, 'slow.example')
    expect(await slots.take('slow.example')).toBeUndefined()
    free()
    expect(await slots.take('slow.example')).toBeDefined()
  })
})
