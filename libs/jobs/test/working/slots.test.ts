import type { TimersOptions } from '../../src/index.ts'
import { effect, Stack, signal, until } from '../stack.ts'

const NO_REDIS: Partial<TimersOptions> = { redis: { url: 'redis://127.0.0.1:9', prefix: 'none' } }

describe.each([
  { way: 'from the queue', direct: 0, options: {} },
  { way: 'that begins with its commit', direct: 1, options: NO_REDIS },
])('an attempt $way', ({ direct, options }) => {
  const stack = new Stack()

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  it('lets another one begin when it leaves its slot, and a shutdown waits for its effect', async () => {
    const [begun, leaving, proceeding] = [[] as string[], signal(), signal()]
    const timers = stack.timers(options)
    const work = { concurrency: 1, direct, attemptMs: 60_000, retry: () => null }
    timers.work('note', work, async ({ timer: { key }, run, leaveSlot }) => {
      begun.push(key)
      if (begun.length === 1) {
        await leaving.happened
        leaveSlot()
        leaveSlot()
      }
      await proceeding.happened
      await run((tx) => effect(tx, key))
    })
    await timers.start()
    await stack.db.transaction((tx) =>
      timers.scheduleAll(
        tx,
        ['a', 'b', 'c'].map((key) => ({ kind: 'note', key, payload: { text: key } })),
      ),
    )
    await until(() => begun.length === 1)
    leaving.happen()
    await until(() => begun.length === 2)
    const stopped = timers.stop()
    proceeding.happen()
    await stopped
    // The second one has kept its slot, however often the first has left.
    expect((await stack.effects()).map(({ key }) => key).toSorted()).toEqual(begun.toSorted())
    expect(begun).toHaveLength(2)
  })
})
