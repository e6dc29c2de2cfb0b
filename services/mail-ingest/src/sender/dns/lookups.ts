import { dnsCode, isTemporaryCode } from './dns-errors.ts'
import { type Answer, type Question, questionKey } from './question.ts'

/** Records as returned by `node:dns`; rejects with its codes. */
export type Resolve = (name: string, type: string) => Promise<string[][] | string[]>

/** The look-ups of one mail: each name is queried once, and prefetched answers are ready when they are needed. */
export class Lookups {
  readonly #ask: (question: Question) => Promise<Answer>
  readonly #caughtUp: () => Promise<void>
  readonly #answers = new Map<string, Promise<string[][] | string[]>>()

  /** @param caughtUp resolves when all answers that have reached this process are delivered. */
  constructor(ask: (question: Question) => Promise<Answer>, caughtUp: () => Promise<void>) {
    this.#ask = ask
    this.#caughtUp = caughtUp
  }

  readonly resolve: Resolve = (name, type) => {
    const key = questionKey({ name, type })
    const known = this.#answers.get(key)
    if (known) return known
    const answer = this.#ask({ name, type }).then((given) => {
      if ('records' in given) return given.records
      throw Object.assign(new Error(`${type} ${name}: ${given.code}`), { code: given.code })
    })
    answer.catch(() => {})
    this.#answers.set(key, answer)
    return answer
  }

  /** Queries names that will be needed, all at once, so that slow answers are waited for together. */
  prefetch(names: readonly string[]): void {
    for (const name of names) this.resolve(name, 'TXT').catch(() => {})
  }

  /** A step with a deadline of its own, so that the servers of one domain cannot use up the time of another's. */
  step(ms: number): Step {
    return new Step(this.resolve, ms, this.#caughtUp)
  }
}

/**
 * Look-ups with a common deadline. An answer that has reached the process is used even after the deadline: a busy
 * process is not a failure of DNS.
 */
export class Step {
  readonly #failed = new Map<string, Question>()
  readonly #expired: Promise<never>
  readonly #lookup: Resolve
  readonly #timer: NodeJS.Timeout

  constructor(lookup: Resolve, ms: number, caughtUp: () => Promise<void>) {
    this.#lookup = lookup
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.#expired = promise
    const expire = () => reject(Object.assign(new Error('DNS took too long'), { code: 'ETIMEOUT' }))
    this.#timer = setTimeout(() => void caughtUp().then(expire), ms)
  }

  readonly resolve: Resolve = async (name, type) => {
    try {
      return await Promise.race([this.#lookup(name, type), this.#expired])
    } catch (error) {
      if (isTemporaryCode(dnsCode(error))) this.#failed.set(questionKey({ name, type }), { name, type })
      throw error
    }
  }

  /** Queries that failed temporarily. */
  get failed(): Question[] {
    return [...this.#failed.values()]
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
