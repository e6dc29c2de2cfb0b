import { BodyMemoryLimiter } from '../src/http/body-memory-limiter.ts'
import { ByteSemaphore } from '../src/index.ts'

const MB = 1024 * 1024
const NEVER = new AbortController().signal

/** Work that goes on until it is told to end. */
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

  /** Resolves when whatever could start then has. */
  async end(name: string): Promise<void> {
    this.#ends.get(name)?.()
    await settled()
  }
}

const settled = () => new Promise(setImmediate)

describe('a budget of bytes', () => {
  const works = new Works()
  const budget = new ByteSemaphore({ bytes: 10 * MB })
  const work = (name: string, bytes: number, signal?: AbortSignal) =>
    budget.within(bytes, () => works.start(name), signal)

  it('is given out in turn, to one that is larger than all of it alone, and small work passes', async () => {
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

  it('is not kept for those who gave up waiting', async () => {
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

describe('the memory for bodies', () => {
  it('refuses what arrives above it with 503, and is free again when requests have ended', async () => {
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

  it('has large bodies worked on in turn, and gives up with 503 when that takes too long', async () => {
    const memory = new BodyMemoryLimiter({ workedOn: 10 * MB, turnMs: 20 })
    const works = new Works()
    const first = memory.turn(8 * MB, () => works.start('a'), NEVER)
    const small = memory.turn(1_000, () => works.start('b'), NEVER)
    await expect(memory.turn(6 * MB, () => works.start('c'), NEVER)).rejects.toMatchObject({ status: 503 })
    expect(works.running).toBe('ab')
    await works.end('a')
    await works.end('b')
    await Promise.all([first, small])
  })

  it('leaves room for others whatever one of them holds, and however many hold what they can', async () => {
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

  it('gives a turn to others during slow work that is done aside, and takes it again for the rest', async () => {
    const memory = new BodyMemoryLimiter({ workedOn: 10 * MB, turnMs: 20 })
    const works = new Works()
    const slow = memory.turn(
      8 * MB,
      async (aside) => {
        await aside(() => works.start('fetch'))
        await works.start('compose')
      },
      NEVER,
    )
    const other = memory.turn(6 * MB, () => works.start('other'), NEVER)
    await settled()
    expect(works.running).toBe('fetchother')
    await works.end('other')
    await works.end('fetch')
    expect(works.running).toBe('compose')
    await expect(memory.turn(6 * MB, () => works.start('late'), NEVER)).rejects.toMatchObject({ status: 503 })
    await works.end('compose')
    await Promise.all([slow, other])
  })

  it('has no turn to give back when its slow work fails, or its turn does not come again', async () => {
    const memory = new BodyMemoryLimiter({ workedOn: 10 * MB, turnMs: 20 })
    const works = new Works()
    const failing = memory.turn(8 * MB, (aside) => aside(() => Promise.reject(new Error('refused'))), NEVER)
    await expect(failing).rejects.toThrow('refused')
    const shutOut = memory.turn(8 * MB, (aside) => aside(() => works.start('fetch')), NEVER)
    await settled()
    const other = memory.turn(6 * MB, () => works.start('other'), NEVER)
    await works.end('fetch')
    await expect(shutOut).rejects.toMatchObject({ status: 503 })
    const third = memory.turn(6 * MB, () => works.start('third'), NEVER).catch(() => 'late')
    await settled()
    expect(works.running).toBe('other')
    await works.end('other')
    await works.end('third')
    await Promise.all([other, third])
  })

  it('keeps no turn for a peer that is gone', async () => {
    const memory = new BodyMemoryLimiter({ workedOn: 10 * MB })
    const works = new Works()
    const gone = new AbortController()
    const first = memory.turn(8 * MB, () => works.start('a'), NEVER)
    const second = memory.turn(6 * MB, () => works.start('b'), gone.signal)
    gone.abort()
    await expect(second).rejects.toThrow()
    await works.end('a')
    await first
    expect(works.running).toBe('')
  })
})
