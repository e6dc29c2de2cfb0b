import { ByteSemaphore } from '../../src/concurrency/index.ts'
import { BodyMemoryLimiter } from '../../src/http/framing/body-memory-limiter.ts'

const MB = 1024 * 1024
const NEVER = new AbortController().signal

/** Work that runs until the test ends it. */
class Works {
  readonly #ends = new Map<string, () => void>()

  start(name: string): Promise<void> {
    return new Promise((resolve) => {
      this.#ends.set(name, () => {
        this.#ends.delete(name)
        resolve()
      })
    })
  }

  get running(): string {
    return [...this.#ends.keys()].sort().join('')
  }

  /** Resolves when all work that could then start has started. */
  async end(name: string): Promise<void> {
    this.#ends.get(name)?.()
    await settled()
  }
}

const settled = () => new Promise(setImmediate)

describe('ByteSemaphore', () => {
  const works = new Works()
  const budget = new ByteSemaphore({ bytes: 10 * MB })
  const work = (name: string, bytes: number, signal?: AbortSignal) =>
    budget.within(bytes, () => works.start(name), signal)

  it('grants room in order, runs work above the whole bound alone, and lets small work pass', async () => {
    const all = [work('a', 6 * MB), work('b', 4 * MB), work('c', 30 * MB), work('d', 2 * MB), work('e', MB)]
    await settled()
    expect(works.running).toBe('abe')
    await works.end('a')
    await works.end('e')
    expect(works.running).toBe('b')
    await works.end('b')
    expect(works.running).toBe('c')
    await works.end('c')
    expect(works.running).toBe('d')
    await works.end('d')
    await Promise.all(all)
  })

  it('keeps no room for waiters that gave up', async () => {
    const gone = new AbortController()
    const first = work('a', 8 * MB)
    const second = work('b', 20 * MB, gone.signal)
    const third = work('c', 2 * MB)
    gone.abort(new Error('gone'))
    await expect(second).rejects.toThrow('gone')
    expect(works.running).toBe('ac')
    await works.end('a')
    await works.end('c')
    await Promise.all([first, third])
  })
})

describe('BodyMemoryLimiter', () => {
  it('refuses bytes above its limit with 503, and frees the memory when requests end', async () => {
    const memory = new BodyMemoryLimiter({ held: 12 * MB })
    const works = new Works()
    const first = memory.hold('a', async (count) => {
      count(8 * MB)
      await works.start('a')
    })
    const upload = async (count: (bytes: number) => void) => {
      for (let chunk = 0; chunk < 3; chunk++) count(MB)
    }
    await expect(memory.hold('b', upload)).rejects.toMatchObject({ status: 503, code: 'service_unavailable' })
    await works.end('a')
    await first
    await expect(memory.hold('b', upload)).resolves.toBeUndefined()
  })

  it('processes large bodies one after the other, and gives up with 503 when the wait is too long', async () => {
    const memory = new BodyMemoryLimiter({ processing: 10 * MB, waitMs: 20 })
    const works = new Works()
    const first = memory.process(8 * MB, () => works.start('a'), NEVER)
    const small = memory.process(1_000, () => works.start('b'), NEVER)
    await expect(memory.process(6 * MB, () => works.start('c'), NEVER)).rejects.toMatchObject({ status: 503 })
    expect(works.running).toBe('ab')
    await works.end('a')
    await works.end('b')
    await Promise.all([first, small])
  })

  it('leaves room for others whatever one owner holds, and however many owners take their maximum', async () => {
    const memory = new BodyMemoryLimiter({ held: 90 * MB })
    const works = new Works()
    const fill = (owner: string): Promise<number> => {
      let megabytes = 0
      return memory
        .hold(owner, async (count) => {
          for (; megabytes < 90; megabytes++) count(MB)
        })
        .then(
          () => megabytes,
          () => megabytes,
        )
    }
    expect(await fill('greedy')).toBe(60)
    const holding = ['one', 'two', 'three'].map((owner, index) => {
      const most = [60, 20, 6][index] ?? 0
      return memory.hold(owner, async (count) => {
        count(most * MB)
        await works.start(owner)
      })
    })
    await expect(memory.hold('one', async (count) => count(1))).rejects.toMatchObject({ status: 503 })
    await expect(memory.hold('four', async (count) => count(2 * MB))).resolves.toBeUndefined()
    for (const owner of ['one', 'two', 'three']) await works.end(owner)
    await Promise.all(holding)
    expect(await fill('greedy')).toBe(60)
  })

  it('yields the slot to others during slow work, and acquires it again for the rest', async () => {
    const memory = new BodyMemoryLimiter({ processing: 10 * MB, waitMs: 20 })
    const works = new Works()
    const slow = memory.process(
      8 * MB,
      async (yieldSlot) => {
        await yieldSlot(() => works.start('fetch'))
        await works.start('compose')
      },
      NEVER,
    )
    const other = memory.process(6 * MB, () => works.start('other'), NEVER)
    await settled()
    expect(works.running).toBe('fetchother')
    await works.end('other')
    await works.end('fetch')
    expect(works.running).toBe('compose')
    await expect(memory.process(6 * MB, () => works.start('late'), NEVER)).rejects.toMatchObject({ status: 503 })
    await works.end('compose')
    await Promise.all([slow, other])
  })

  it('releases no slot twice when the slow work fails, or the slot is not acquired again', async () => {
    const memory = new BodyMemoryLimiter({ processing: 10 * MB, waitMs: 20 })
    const works = new Works()
    const failing = memory.process(8 * MB, (yieldSlot) => yieldSlot(() => Promise.reject(new Error('refused'))), NEVER)
    await expect(failing).rejects.toThrow('refused')
    const shutOut = memory.process(8 * MB, (yieldSlot) => yieldSlot(() => works.start('fetch')), NEVER)
    await settled()
    const other = memory.process(6 * MB, () => works.start('other'), NEVER)
    await works.end('fetch')
    await expect(shutOut).rejects.toMatchObject({ status: 503 })
    const third = memory.process(6 * MB, () => works.start('third'), NEVER).catch(() => 'late')
    await settled()
    expect(works.running).toBe('other')
    await works.end('other')
    await works.end('third')
    await Promise.all([other, third])
  })

  it('keeps no slot for a client that has disconnected', async () => {
    const memory = new BodyMemoryLimiter({ processing: 10 * MB })
    const works = new Works()
    const gone = new AbortController()
    const first = memory.process(8 * MB, () => works.start('a'), NEVER)
    const second = memory.process(6 * MB, () => works.start('b'), gone.signal)
    gone.abort()
    await expect(second).rejects.toThrow()
    await works.end('a')
    await first
    expect(works.running).toBe('')
  })
})
