import { OptionalRedis, type RedisAddress } from '@restante/service/connections'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { Counter, Take } from './counter.ts'
import { idOf, type Known, KnownCounts, used } from './known-counts.ts'
import { COUNT_MAIL } from './script.ts'

export interface HourlyCountersOptions {
  /** Redis. If undefined, this process applies the limits by itself. */
  readonly url: string | undefined
  readonly trust?: RedisAddress['trust']
  /** Prefix of every key. */
  readonly prefix: string
  readonly log: Logger
}

type Decide = (short: Counter | undefined) => void

interface Question {
  readonly takes: readonly Take[]
  readonly decide: Decide
}

/** An amount to take, and the known state of its counter. */
interface Change {
  readonly known: Known
  readonly amount: number
}

/** One call to Redis: counters of one group. */
interface Call {
  readonly counters: Known[]
  readonly questions: Question[]
}

/** How long the last answer of Redis is valid. */
const FRESH_MS = 1_000
/** Share of a limit below which takes are decided locally. */
const PLENTY = 0.5
/** How soon local decisions are reported to Redis. */
const REPORT_AFTER_MS = 50

/**
 * Limits per sliding hour that all replicas share through Redis. A take that leaves every counter below half of its
 * limit, by counts at most a second old, is decided locally and reported to Redis within 50 ms. Other takes are decided
 * by Redis, in one call with all that arrive in the same turn of the event loop. Without Redis each process applies the
 * limits by itself, and mail is still accepted.
 */
export class HourlyCounters implements Component {
  readonly name = 'inbound rates'
  readonly #redis: OptionalRedis | undefined
  readonly #prefix: string
  readonly #known = new KnownCounts()
  #owing = new Set<Known>()
  #questions: Question[] = []
  #soon: NodeJS.Immediate | undefined
  #later: NodeJS.Timeout | undefined

  constructor({ url, trust, prefix, log }: HourlyCountersOptions) {
    this.#prefix = prefix
    const scripts = { countMail: { lua: COUNT_MAIL } }
    this.#redis = url === undefined ? undefined : new OptionalRedis({ url, trust, use: 'inbound rates', scripts, log })
  }

  async start(): Promise<void> {
    this.#redis?.connect()
  }

  async working(): Promise<void> {
    if (this.#redis && !this.#redis.available) throw new Error('redis unavailable: inbound rates are not shared')
  }

  /** Reports the local decisions. */
  async stop(): Promise<void> {
    await this.#report()
    this.#redis?.disconnect()
  }

  /**
   * Takes all amounts, or none. The counters must be of one group.
   * @returns the first counter without room; undefined when the amounts were taken.
   */
  async take(takes: readonly Take[]): Promise<Counter | undefined> {
    const changes = this.#changesOf(takes)
    const oldest = performance.now() - FRESH_MS
    const isPlain = ({ known, amount }: Change) =>
      known.syncedAt >= oldest && used(known) + amount <= PLENTY * known.counter.limit
    if (!this.#redis?.available || changes.every(isPlain)) return this.#takeHere(changes)
    this.#soon ??= setImmediate(() => void this.#report())
    return new Promise((decide) => this.#questions.push({ takes, decide }))
  }

  /** Adds amounts regardless of the limits; negative ones give back what was taken. */
  add(takes: readonly Take[]): void {
    this.#add(this.#changesOf(takes))
  }

  #changesOf(takes: readonly Take[]): Change[] {
    return takes.map(({ counter, amount }) => ({ known: this.#known.of(counter), amount }))
  }

  #takeHere(changes: readonly Change[]): Counter | undefined {
    const short = changes.find(({ known, amount }) => used(known) + amount > known.counter.limit)
    if (short) return short.known.counter
    this.#add(changes)
    return undefined
  }

  #add(changes: readonly Change[]): void {
    for (const { known, amount } of changes) {
      known.count = Math.max(0, known.count + amount)
      if (!this.#redis?.available) continue
      known.owed += amount
      this.#owing.add(known)
    }
    if (this.#owing.size > 0) this.#later ??= setTimeout(() => void this.#report(), REPORT_AFTER_MS)
  }

  async #report(): Promise<void> {
    clearTimeout(this.#later)
    clearImmediate(this.#soon)
    this.#later = undefined
    this.#soon = undefined
    const [owing, questions] = [this.#owing, this.#questions]
    this.#owing = new Set()
    this.#questions = []
    const calls = this.#callsOf(owing, questions)
    await Promise.all(calls.map((call) => this.#exchange(call)))
  }

  #callsOf(owing: ReadonlySet<Known>, questions: readonly Question[]): Call[] {
    const byGroup = new Map<string, { counters: Map<string, Known>; questions: Question[] }>()
    const groupOf = (group: string) => {
      const found = byGroup.get(group) ?? { counters: new Map<string, Known>(), questions: [] }
      byGroup.set(group, found)
      return found
    }
    for (const known of owing) groupOf(known.counter.group).counters.set(idOf(known.counter), known)
    for (const question of questions) {
      for (const { counter } of question.takes) {
        groupOf(counter.group).counters.set(idOf(counter), this.#known.of(counter))
      }
      const [first] = question.takes
      if (first) groupOf(first.counter.group).questions.push(question)
      else question.decide(undefined)
    }
    return [...byGroup.values()].map((group) => ({
      counters: [...group.counters.values()],
      questions: group.questions,
    }))
  }

  /** Never rejects: takes that Redis does not decide are decided locally. */
  async #exchange({ counters, questions }: Call): Promise<void> {
    const owed = counters.map((known) => known.owed)
    for (const known of counters) known.owed = 0
    try {
      const numbers = await this.#ask(counters, owed, questions)
      questions.forEach(({ decide }, index) => {
        const short = numbers[index] ?? 0
        decide(short === 0 ? undefined : counters[short - 1]?.counter)
      })
      counters.forEach((known, index) => {
        const [hour = known.hour, count = 0, before = 0] = numbers.slice(questions.length + 3 * index)
        // Local decisions made in the meantime are still to be reported.
        Object.assign(known, { hour, count: Math.max(0, count + known.owed), before, syncedAt: performance.now() })
      })
    } catch {
      // The failure has been logged. Unreported amounts stay counted here.
      for (const { takes, decide } of questions) decide(this.#takeHere(this.#changesOf(takes)))
    }
  }

  async #ask(counters: readonly Known[], owed: readonly number[], questions: readonly Question[]): Promise<number[]> {
    const redis = this.#redis
    if (!redis?.available) throw new Error('redis unavailable')
    const positions = new Map(counters.map(({ counter }, index) => [idOf(counter), index + 1]))
    const keys = counters.map(({ counter }) => `${this.#prefix}:${idOf(counter)}`)
    const limits = counters.map(({ counter }) => counter.limit)
    const asked = questions.flatMap(({ takes }) => [
      takes.length,
      ...takes.flatMap(({ counter, amount }) => [positions.get(idOf(counter)) ?? 0, amount]),
    ])
    const reply = await redis.run((client) => client.countMail(keys.length, ...keys, ...limits, ...owed, ...asked))
    const expected = questions.length + 3 * counters.length
    if (!Array.isArray(reply) || reply.length !== expected) throw new TypeError('unexpected reply of the rate script')
    return reply.map(Number)
  }
}
