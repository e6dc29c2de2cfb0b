import { createLogger } from '@restante/service/telemetry'
import { register } from 'prom-client'
import { AttemptsExhaustedError, LeaseLostError, Timers } from '../../src/index.ts'
import { ago, ahead, at, effect, never, Stack, signal, until } from '../stack.ts'

describe('an attempt', () => {
  const stack = new Stack()

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  it('is retried when the retry policy says so, with its number', async () => {
    const timers = stack.timers()
    const attempts: number[] = []
    const failures: [number, unknown][] = []
    const retry = (attempt: number, error: unknown) => {
      failures.push([attempt, error])
      return ahead(30)
    }
    timers.work('note', { concurrency: 1, attemptMs: 60_000, retry }, async ({ timer, run }) => {
      attempts.push(timer.attempt)
      if (timer.attempt < 3) throw new Error(`failure ${timer.attempt}`)
      await run((tx) => effect(tx, timer.key))
    })
    await timers.start()
    await at(stack.db, timers, 'stubborn')
    await until(async () => (await stack.effects()).length === 1)
    expect(attempts).toEqual([1, 2, 3])
    expect(failures).toEqual([
      [1, new Error('failure 1')],
      [2, new Error('failure 2')],
    ])
  })

  it('is counted by outcome from 0 on, so that an increase shows the first one', async () => {
    const timers = new Timers<{ counted: Record<string, never> }>({
      db: stack.db,
      redis: { url: 'redis://127.0.0.1:9', prefix: stack.prefix },
      log: createLogger({ service: 'jobs-test', level: 'silent' }),
    })
    timers.work('counted', { concurrency: 1, attemptMs: 60_000, retry: never }, async () => {})
    const { values = [] } = (await register.getSingleMetric('restante_timers_attempts_total')?.get()) ?? {}
    const counted = values.filter(({ labels }) => labels['kind'] === 'counted')
    expect(counted.map(({ labels, value }) => [labels['outcome'], value])).toContainEqual(['given_up', 0])
  })

  it('leaves nothing when its effect fails half-way', async () => {
    const timers = stack.timers()
    timers.work('note', { concurrency: 1, attemptMs: 60_000, retry: () => ahead(20) }, async ({ timer, run }) => {
      await run(async (tx) => {
        await effect(tx, timer.key, `attempt ${timer.attempt}`)
        if (timer.attempt === 1) throw new Error('half way')
      })
    })
    await timers.start()
    await at(stack.db, timers, 'k')
    await until(async () => (await stack.rows()).length === 0)
    expect(await stack.effects()).toEqual([{ key: 'k', text: 'attempt 2' }])
  })

  it('is the last when the retry policy gives up, and `givenUp` runs in the transaction that deletes the timer', async () => {
    const timers = stack.timers()
    const retry = (attempt: number) => (attempt < 2 ? ago(0) : null)
    const work = {
      concurrency: 1,
      attemptMs: 60_000,
      retry,
      givenUp: async (tx: Parameters<typeof effect>[0], timer: { key: string; attempt: number }, error: unknown) => {
        await effect(tx, timer.key, `given up after ${timer.attempt}: ${error instanceof Error ? error.message : ''}`)
      },
    }
    timers.work('note', work, async () => {
      throw new Error('no such host')
    })
    await timers.start()
    await at(stack.db, timers, 'hopeless')
    await until(async () => (await stack.effects()).length === 1)
    expect(await stack.effects()).toEqual([{ key: 'hopeless', text: 'given up after 2: no such host' }])
    expect(await stack.rows()).toEqual([])
  })

  it('may postpone its timer together with its effect, and keeps counting attempts', async () => {
    const timers = stack.timers()
    timers.work('note', { concurrency: 1, attemptMs: 60_000, retry: never }, async ({ timer, run, postpone }) => {
      await run(async (tx) => {
        await effect(tx, timer.key, `${timer.attempt} ${timer.payload.text}`)
        if (timer.attempt < 3) await postpone(tx, ahead(20), { text: `${timer.payload.text}!` })
      })
    })
    await timers.start()
    await at(stack.db, timers, 'k', undefined, 'go')
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ text }) => text)).toEqual(['1 go', '2 go!', '3 go!!'])
  })

  it('may reschedule its own timer, starting at the first attempt', async () => {
    const timers = stack.timers()
    timers.work('note', { concurrency: 1, attemptMs: 60_000, retry: never }, async ({ timer, run }) => {
      await run(async (tx) => {
        await effect(tx, timer.key, `${timer.attempt} ${timer.payload.text}`)
        if (timer.payload.text === 'first')
          await timers.schedule(tx, { kind: 'note', key: timer.key, payload: { text: 'second' } })
      })
    })
    await timers.start()
    await at(stack.db, timers, 'k', undefined, 'first')
    await until(async () => (await stack.effects()).length === 2)
    expect((await stack.effects()).map(({ text }) => text)).toEqual(['1 first', '1 second'])
  })

  it('without an effect completes its timer when the handler returns', async () => {
    const timers = stack.timers()
    timers.work('note', { concurrency: 1, attemptMs: 60_000, retry: never }, async () => {})
    await timers.start()
    await at(stack.db, timers, 'k')
    await until(async () => (await stack.rows()).length === 0)
  })

  it('cannot commit its effect when its lease ran out and another attempt has done the work', async () => {
    const timers = stack.timers()
    const second = signal()
    const refused = Promise.withResolvers<unknown>()
    timers.work('note', { concurrency: 2, attemptMs: 200, retry: never }, async ({ timer, run, signal: limit }) => {
      if (timer.attempt === 1) {
        await second.happened
        // The process starts to measure the limit a moment after the lease has begun.
        await until(async () => limit.aborted)
        await run((tx) => effect(tx, timer.key, 'first')).catch((error: unknown) => {
          refused.resolve(error)
          throw error
        })
      }
      await run((tx) => effect(tx, timer.key, 'second'))
      second.happen()
    })
    await timers.start()
    await at(stack.db, timers, 'slow')
    expect(await refused.promise).toBeInstanceOf(LeaseLostError)
    expect(await stack.effects()).toEqual([{ key: 'slow', text: 'second' }])
  })

  it('may commit its effect when its lease ran out but the timer was not leased again', async () => {
    const timers = stack.timers({ pollMs: 600_000 })
    timers.work('note', { concurrency: 1, attemptMs: 50, retry: never }, async ({ timer, run, signal: limit }) => {
      await until(() => limit.aborted)
      await run((tx) => effect(tx, timer.key, `attempt ${timer.attempt}`))
    })
    await timers.start()
    await until(async () => (await stack.redis.keys(`${stack.prefix}:note:*`)).length > 0)
    await at(stack.db, timers, 'k')
    await until(async () => (await stack.rows()).length === 0)
    expect(await stack.effects()).toEqual([{ key: 'k', text: 'attempt 1' }])
  })

  it('may take longer than its lease, which is renewed as long as the attempt has time, and no longer', async () => {
    const timers = stack.timers()
    const work = { concurrency: 2, leaseMs: 1_500, attemptMs: 4_000, retry: never }
    const begun: number[] = []
    const stuck = signal()
    timers.work('note', work, async ({ timer, run, signal: limit }) => {
      begun.push(timer.attempt)
      if (timer.attempt > 1) {
        await run((tx) => effect(tx, timer.key, `attempt ${timer.attempt}`))
        stuck.happen()
        return
      }
      await until(() => limit.aborted)
      expect(begun).toEqual([1])
      await stuck.happened
    })
    await timers.start()
    await at(stack.db, timers, 'long')
    await until(async () => (await stack.rows()).length === 0)
    expect(await stack.effects()).toEqual([{ key: 'long', text: 'attempt 2' }])
  })

  it('is not begun more often than allowed, even when no earlier one has failed', async () => {
    const timers = stack.timers()
    const reasons: unknown[] = []
    const work = {
      concurrency: 4,
      attemptMs: 50,
      retry: () => ahead(0),
      maxAttempts: 2,
      givenUp: async (_tx: unknown, _timer: unknown, error: unknown) => void reasons.push(error),
    }
    const end = signal()
    timers.work('note', work, () => end.happened)
    await timers.start()
    await at(stack.db, timers, 'k')
    await until(async () => (await stack.rows()).length === 0)
    end.happen()
    expect(reasons).toEqual([expect.any(AttemptsExhaustedError)])
  })

  it('that a shutdown cuts off is aborted by signal, and retried at once by the next process', async () => {
    const dying = stack.timers({ drainMs: 50 })
    const begun = signal()
    const work = { concurrency: 1, attemptMs: 60_000, retry: never }
    dying.work('note', work, async ({ signal: limit }) => {
      begun.happen()
      await new Promise((_resolve, reject) => limit.addEventListener('abort', () => reject(limit.reason)))
    })
    await dying.start()
    await at(stack.db, dying, 'k')
    await begun.happened
    await dying.stop()
    const next = stack.timers()
    next.work('note', work, async ({ timer, run }) => void (await run((tx) => effect(tx, `${timer.attempt}`))))
    await next.start()
    await until(async () => (await stack.effects()).length === 1)
    expect((await stack.effects())[0]?.key).toBe('2')
  })

  it('that ends while a shutdown waits commits its effect', async () => {
    const timers = stack.timers()
    const begun = signal()
    const stopping = signal()
    timers.work('note', { concurrency: 1, attemptMs: 60_000, retry: never }, async ({ timer, run }) => {
      begun.happen()
      await stopping.happened
      await run((tx) => effect(tx, timer.key))
    })
    await timers.start()
    await at(stack.db, timers, 'k')
    await begun.happened
    const stopped = timers.stop()
    stopping.happen()
    await stopped
    expect(await stack.effects()).toHaveLength(1)
  })
})
