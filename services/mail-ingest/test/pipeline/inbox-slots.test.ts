import { InboxSlots } from '../../src/pipeline/queue/inbox-slots.ts'

/** Work that ends when `end` is called. */
function work() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, end: resolve }
}

describe('the slots of a pipeline', () => {
  it('are free again when their work has ended', async () => {
    const slots = new InboxSlots(2)
    const [first, second] = [work(), work()]
    const done = slots.during(first.promise, false)
    void slots.during(second.promise, false)
    expect(slots.free).toBe(0)
    first.end()
    await done
    expect(slots.free).toBe(1)
    second.end()
    await slots.empty()
    expect(slots.free).toBe(2)
  })

  it('are released by work that takes long, up to four times as many runs', async () => {
    const slots = new InboxSlots(2)
    const all = Array.from({ length: 8 }, work)
    const taken: number[] = []
    for (const { promise } of all) {
      while (slots.free === 0) await new Promise(setImmediate)
      taken.push(slots.free)
      void slots.during(promise, false)
    }
    const begun = performance.now()
    while (performance.now() - begun < 300) await new Promise(setImmediate)
    expect(taken).toHaveLength(8)
    expect(slots.free).toBe(0)
    for (const { end } of all) end()
    await slots.empty()
  })

  it('are not taken by slow work, which has a slot of its own', async () => {
    const slots = new InboxSlots(1)
    const slow = work()
    const done = slots.during(slow.promise, true)
    expect(slots).toMatchObject({ free: 1, freeSlow: 0 })
    slow.end()
    await done
    expect(slots.freeSlow).toBe(1)
  })
})
