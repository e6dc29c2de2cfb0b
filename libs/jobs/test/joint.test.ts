import { sql } from '@restante/service/database'
import { ahead, at, effect, never, Stack, signal, until } from './stack.ts'

describe('a joint conclusion', () => {
  const stack = new Stack()

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  const options = { concurrency: 10, attemptMs: 5_000, retry: never }
  const keys = ['a', 'b', 'c', 'd', 'e']

  /** Attempts that all reach their end at the same time. */
  async function work(
    conclude: Parameters<ReturnType<Stack['timers']>['joint']>[0]['effect'],
    before = async () => {},
  ) {
    const timers = stack.timers()
    const joint = timers.joint<unknown>({ maxItems: 10, effect: conclude })
    const everyone = signal()
    let begun = 0
    timers.work('note', { ...options, retry: () => ahead(20) }, async (context) => {
      if (++begun === keys.length) {
        await before()
        everyone.happen()
      }
      await everyone.happened
      await context.runJointly(joint, context.timer.key)
    })
    for (const key of keys) await at(stack.db, timers, key)
    await timers.start()
    return timers
  }

  it('commits the effects of attempts of one moment in one transaction, and ends their timers', async () => {
    const together: number[] = []
    await work(async (tx, items) => {
      together.push(items.length)
      for (const key of items) await effect(tx, String(key))
    })
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys)
    expect(together).toEqual([keys.length])
  })

  it('lets the attempt that makes it fail do so alone', async () => {
    let failures = 0
    await work(async (tx, items) => {
      for (const key of items) await effect(tx, String(key))
      if (items.includes('c') && failures++ < 2) throw new Error('no')
    })
    await until(async () => (await stack.rows()).length === 0)
    // The effect of the first attempt was rolled back twice, once with the others and once alone.
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys)
    expect((await stack.effects()).at(-1)?.key).toBe('c')
  })

  it('leaves out an attempt that has lost its lease', async () => {
    const cancel = sql<never>("delete from timers where key = 'b'")
    await work(
      async (tx, items) => {
        for (const key of items) await effect(tx, String(key))
      },
      async () => {
        await stack.db.query(cancel)
      },
    )
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(['a', 'c', 'd', 'e'])
  })
})
