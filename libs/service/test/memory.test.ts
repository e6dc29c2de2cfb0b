import { BodyMemory } from '../src/http/body-memory.ts'
import { ByteBudget } from '../src/index.ts'

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
  const budget = new ByteBudget({ bytes: 10 * MB })
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
    const memory = new BodyMemory({ held: 10 * MB })
    const works = new Works()
    const first = memory.hold(async (count) => {
      count(8 * MB)
      await works.start('a')
    })
    const upload = async (count: (bytes: number) => void) => {
      for (let chunk = 0; chunk < 3; chunk++) count(MB)
    }
    await expect(memory.hold(upload)).rejects.toMatchObject({ status: 503, code: 'service_unavailable' })
    await works.end('a')
    await first
    await expect(memory.hold(upload)).resolves.toBeUndefined()
  })

  it('has large bodies worked on in turn, and gives up with 503 when that takes too long', async () => {
    const memory = new BodyMemory({ workedOn: 10 * MB, turnMs: 20 })
    const works = new Works()
    const first = memory.turn(8 * MB, () => works.start('a'), NEVER)
    const small = memory.turn(1_000, () => works.start('b'), NEVER)
    await expect(memory.turn(6 * MB, () => works.start('c'), NEVER)).rejects.toMatchObject({ status: 503 })
    expect(works.running).toBe('ab')
    await works.end('a')
    await works.end('b')
    await Promise.all([first, small])
  })

  it('keeps no turn for a peer that is gone', async () => {
    const memory = new BodyMemory({ workedOn: 10 * MB })
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
