import { ago, effect, never, Stack, signal, until } from '../stack.ts'

describe('shares', () => {
  const stack = new Stack()
  const once = { concurrency: 1, attemptMs: 60_000, retry: never }

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  /** Schedules timers `name-0`, `name-1`, ... that have been due since then. */
  const schedule = (timers: ReturnType<Stack['timers']>, name: string, share: number, count: number, sinceMs: number) =>
    stack.db.transaction((tx) =>
      timers.scheduleAll(
        tx,
        Array.from({ length: count }, (_, index) => ({
          kind: 'note' as const,
          key: `${name}-${index}`,
          dueAt: ago(sinceMs - index),
          payload: { text: name },
          share,
        })),
      ),
    )

  it('are leased in rotation: the long queue of one does not delay another', async () => {
    const timers = stack.timers()
    timers.work(
      'note',
      { ...once, shares: 4 },
      async ({ timer, run }) => void (await run((tx) => effect(tx, timer.key))),
    )
    await schedule(timers, 'busy', 0, 500, 60_000)
    await schedule(timers, 'calm', 3, 3, 1_000)
    await timers.start()
    await until(async () => (await stack.effects()).some(({ key }) => key === 'calm-2'))
    const keys = (await stack.effects()).map(({ key }) => key)
    expect(keys.indexOf('calm-2')).toBeLessThan(20)
    await until(async () => (await stack.effects()).length === 503)
    expect((await stack.effects()).filter(({ key }) => key.startsWith('busy')).map(({ key }) => key)).toEqual(
      Array.from({ length: 500 }, (_, index) => `busy-${index}`),
    )
    expect(await stack.rows()).toEqual([])
  })

  it('hold for timers that are scheduled because they were missing', async () => {
    const timers = stack.timers()
    const runs: number[] = []
    timers.work('note', { ...once, shares: 4 }, async ({ timer, run }) => {
      runs.push(timer.share)
      await run((tx) => effect(tx, timer.key))
    })
    await stack.db.transaction((tx) =>
      timers.scheduleIfMissing(tx, { kind: 'note', key: 'lost', payload: { text: 'lost' }, share: 3 }),
    )
    await timers.start()
    await until(async () => (await stack.effects()).length === 1)
    expect(runs).toEqual([3])
  })

  it('do not delay each other while the long queue is already being worked on', async () => {
    const timers = stack.timers()
    const [underWay, calm] = [signal(), signal()]
    let attempts = 0
    timers.work('note', { ...once, shares: 4 }, async ({ timer, run }) => {
      if (++attempts === 20) {
        underWay.happen()
        await calm.happened
      }
      await run((tx) => effect(tx, timer.key))
    })
    await schedule(timers, 'busy', 1, 500, 60_000)
    await timers.start()
    await underWay.happened
    const before = (await stack.effects()).length
    await schedule(timers, 'calm', 2, 1, 0)
    calm.happen()
    const isThere = async () => (await stack.effects()).some(({ key }) => key === 'calm-0')
    await until(isThere)
    const index = (await stack.effects()).findIndex(({ key }) => key === 'calm-0')
    // What is in the queue already goes first: 50 at most.
    expect(index - before).toBeLessThan(120)
  })

  it('are kept when a timer is postponed, and told to the handler', async () => {
    const timers = stack.timers()
    const seen: number[] = []
    timers.work('note', { ...once, shares: 4 }, async ({ timer, run, postpone }) => {
      seen.push(timer.share)
      await run(async (tx) => {
        if (seen.length === 1) await postpone(tx, new Date())
      })
    })
    await schedule(timers, 'one', 2, 1, 0)
    await timers.start()
    await until(() => seen.length === 2)
    expect(seen).toEqual([2, 2])
  })
})
