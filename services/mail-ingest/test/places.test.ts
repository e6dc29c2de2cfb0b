import { Places } from '../src/pipeline/queue/inbox-slots.ts'

/** Work that ends when `end` is called. */
function work() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, end: resolve }
}

describe('the slots of a pipeline', () => {
  it('are free again when their work has ended', async () => {
    const places = new Places(2)
    const [first, second] = [work(), work()]
    const done = places.during(first.promise, false)
    void places.during(second.promise, false)
    expect(places.free).toBe(0)
    first.end()
    await done
    expect(places.free).toBe(1)
    second.end()
    await places.empty()
    expect(places.free).toBe(2)
  })

  it('are released by work that takes long, up to four times as many runs', async () => {
    const places = new Places(2)
    const all = Array.from({ length: 8 }, work)
    const taken: number[] = []
    for (const { promise } of all) {
      while (places.free === 0) await new Promise(setImmediate)
      taken.push(places.free)
      void places.during(promise, false)
    }
    const begun = performance.now()
    while (performance.now() - begun < 300) await new Promise(setImmediate)
    expect(taken).toHaveLength(8)
    expect(places.free).toBe(0)
    for (const { end } of all) end()
    await places.empty()
  })

  it('are not taken by slow work, which has a slot of its own', async () => {
    const places = new Places(1)
    const slow = work()
    const done = places.during(slow.promise, true)
    expect(places).toMatchObject({ free: 1, freeSlow: 0 })
    slow.end()
    await done
    expect(places.freeSlow).toBe(1)
  })
})
