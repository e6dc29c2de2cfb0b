import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { TimeLimitError, withTimeLimit } from '@restante/service/concurrency'

/** Work that goes on until its signal is aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

describe('work with a time limit', () => {
  it('settles as the work does', async () => {
    expect(await withTimeLimit(60_000, [], async () => 'done')).toBe('done')
    await expect(withTimeLimit(60_000, [], () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  })

  it('has its signal aborted when the time has run out', async () => {
    await expect(withTimeLimit(10, [], untilAborted)).rejects.toThrow(new TimeLimitError(10))
  })

  it('has its signal aborted with any of the given ones, for its reason', async () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const ended = withTimeLimit(60_000, [first.signal, second.signal], untilAborted)
    second.abort(new Error('the second'))
    first.abort(new Error('the first'))
    await expect(ended).rejects.toThrow('the second')
  })

  it('has its signal aborted from the start when a given one was', async () => {
    const reason = new Error('before')
    await expect(
      withTimeLimit(60_000, [AbortSignal.abort(reason)], async (signal) => signal.throwIfAborted()),
    ).rejects.toThrow(reason)
  })

  it('is not aborted after its end', async () => {
    const given = new AbortController()
    const signal = await withTimeLimit(10, [given.signal], async (own) => own)
    given.abort()
    await wait(30)
    expect(signal.aborted).toBe(false)
  })

  it('leaves nothing in memory, however long the limit', async () => {
    const { signal } = new AbortController()
    const ended: WeakRef<AbortSignal>[] = []
    for (let count = 0; count < 100; count++) {
      await withTimeLimit(3_600_000, [signal], async (own) => {
        own.addEventListener('abort', () => {}, { once: true })
        ended.push(new WeakRef(own))
      })
    }
    await wait(10)
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    expect(ended.filter((each) => each.deref() !== undefined)).toEqual([])
  })
})
