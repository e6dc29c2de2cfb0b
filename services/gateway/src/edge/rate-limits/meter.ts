import type { Component } from '@restante/service/process'
import { Counter } from 'prom-client'
import type { Answer, Bucket, Charge, Demand, Demands, Refusal, Verdict } from './buckets.ts'
import { LocalAllowance } from './local-allowance.ts'
import { LocalBuckets } from './local-buckets.ts'
import { SharedBuckets, type SharedBucketsOptions } from './shared-buckets.ts'

const meteredLocally = new Counter({
  name: 'restante_rate_limits_metered_locally_total',
  help: 'Requests counted by this process only, because the shared counters did not answer',
})

type Decide = (refusal: Refusal | undefined) => void

/** Requests of one charge that wait to be counted. */
class Waiting implements Demand {
  readonly charge: Charge
  readonly requests: Decide[] = []
  owed = 0

  constructor(charge: Charge) {
    this.charge = charge
  }

  get asked(): number {
    return this.requests.length
  }

  /** Requests are admitted in order of arrival. */
  decide({ granted, refusal }: Verdict<Waiting>): void {
    for (const [index, resolve] of this.requests.entries()) resolve(index < granted ? undefined : refusal)
  }
}

/** All demands on one shared bucket, by the key of the own one. */
interface Group {
  readonly shared: Bucket
  readonly byOwn: Map<string, Waiting>
}

/** How soon admitted requests are counted. */
const COUNT_AFTER_MS = 10

/**
 * Takes tokens for requests. Requests that need a decision of the shared counters wait for the end of the turn of the
 * event loop and are counted with one call per shared bucket, so that many cost hardly more than one. Others are
 * admitted at once and counted shortly afterwards. While the shared counters do not answer, this process counts by
 * itself.
 */
export class Meter implements Component {
  readonly name = 'rate limits'
  readonly #shared: SharedBuckets
  readonly #local = new LocalBuckets()
  readonly #allowance = new LocalAllowance()
  /** By the key of the shared bucket. */
  #groups = new Map<string, Group>()
  #soon: NodeJS.Immediate | undefined
  #later: NodeJS.Timeout | undefined

  constructor(options: SharedBucketsOptions) {
    this.#shared = new SharedBuckets(options)
  }

  async start(): Promise<void> {
    this.#shared.connect()
  }

  async working(): Promise<void> {
    if (!this.#shared.available) throw new Error('the shared counters do not answer; each gateway counts for itself')
  }

  async stop(): Promise<void> {
    clearTimeout(this.#later)
    this.#shared.disconnect()
  }

  /** @returns why the request is refused; undefined when it is admitted. */
  async take(charge: Charge): Promise<Refusal | undefined> {
    if (this.#allowance.passes(charge)) {
      this.#waiting(charge).owed++
      this.#later ??= setTimeout(() => this.#count(), COUNT_AFTER_MS)
      return undefined
    }
    return this.#allowance.refusal(charge) ?? this.#ask(charge)
  }

  /** Whether a request would be refused now, as far as that is known locally. */
  isEmpty(charge: Charge): boolean {
    return this.#allowance.refusal(charge) !== undefined
  }

  #ask(charge: Charge): Promise<Refusal | undefined> {
    const { requests } = this.#waiting(charge)
    this.#soon ??= setImmediate(() => this.#count())
    return new Promise((decide) => requests.push(decide))
  }

  #waiting(charge: Charge): Waiting {
    const { shared, own } = charge
    let group = this.#groups.get(shared.key)
    if (group === undefined) {
      group = { shared, byOwn: new Map() }
      this.#groups.set(shared.key, group)
    }
    const ownKey = own?.key ?? ''
    let waiting = group.byOwn.get(ownKey)
    if (waiting === undefined) {
      waiting = new Waiting(charge)
      group.byOwn.set(ownKey, waiting)
    }
    return waiting
  }

  async #count(): Promise<void> {
    clearTimeout(this.#later)
    clearImmediate(this.#soon)
    this.#later = undefined
    this.#soon = undefined
    const groups = [...this.#groups.values()].map(({ shared, byOwn }) => ({ shared, all: [...byOwn.values()] }))
    this.#groups = new Map()
    for (const { shared, verdicts, left } of await this.#answers(groups)) {
      for (const { bucket, tokens } of left) this.#allowance.learnLeft(bucket, tokens - this.#uncounted(shared, bucket))
      for (const verdict of verdicts) {
        if (verdict.refusal !== undefined) this.#allowance.learnEmpty(verdict.refusal)
        verdict.demand.decide(verdict)
      }
    }
  }

  /** Never rejects: requests that Redis does not count are counted here. */
  async #answers(groups: readonly Demands<Waiting>[]): Promise<readonly Answer<Waiting>[]> {
    if (this.#shared.available) {
      try {
        return await this.#shared.take(groups)
      } catch {
        // The failing component has logged it.
      }
    }
    return groups.map(({ shared, all }) => {
      for (const { asked, owed } of all) meteredLocally.inc(asked + owed)
      return { shared, verdicts: all.map((demand) => this.#local.take(demand)), left: [] }
    })
  }

  /** Requests that took from a bucket since the call that was just answered. */
  #uncounted(shared: Bucket, bucket: Bucket): number {
    const group = this.#groups.get(shared.key)
    if (group === undefined) return 0
    if (bucket !== shared) return group.byOwn.get(bucket.key)?.owed ?? 0
    return [...group.byOwn.values()].reduce((sum, { owed }) => sum + owed, 0)
  }
}
