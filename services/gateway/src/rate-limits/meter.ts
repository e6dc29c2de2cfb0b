import type { Logger, Part } from '@restante/service'
import { Counter } from 'prom-client'
import type { Bucket, Charge, Demand, Demands, Refusal, Verdict } from './buckets.ts'
import { LocalBuckets } from './local-buckets.ts'
import { SharedBuckets } from './shared-buckets.ts'

const meteredLocally = new Counter({
  name: 'gateway_rate_limits_metered_locally_total',
  help: 'Requests that this process alone counted, because the shared counters did not answer',
})

type Decide = (refusal: Refusal | undefined) => void

/** Requests of one charge that wait for the end of the turn. */
class Waiting implements Demand {
  readonly charge: Charge
  readonly requests: Decide[] = []

  constructor(charge: Charge) {
    this.charge = charge
  }

  get count(): number {
    return this.requests.length
  }

  /** Those that came first pass first. */
  tell({ granted, refusal }: Verdict<Waiting>): void {
    for (const [index, decide] of this.requests.entries()) decide(index < granted ? undefined : refusal)
  }
}

/** The same for everything that has one shared bucket, by the key of the own one. */
interface Group {
  readonly shared: Bucket
  readonly byOwn: Map<string, Waiting>
}

/** Of so many buckets it is remembered for how long they are empty. */
const EMPTY_CAPACITY = 10_000

/**
 * Takes tokens for requests. Those of one turn of the event loop are counted with one call per shared bucket, so that a
 * crowd costs hardly more than one. When the shared counters do not answer, requests are counted here.
 */
export class Meter implements Part {
  readonly name = 'rate limits'
  readonly #shared: SharedBuckets
  readonly #local = new LocalBuckets()
  /** By the key of the shared bucket. */
  #groups = new Map<string, Group>()
  /** When buckets that were found empty have a token again: until then there is nothing to ask. */
  readonly #empty = new Map<string, number>()

  constructor(options: { readonly url: string; readonly log: Logger }) {
    this.#shared = new SharedBuckets(options)
  }

  async start(): Promise<void> {
    this.#shared.connect()
  }

  async working(): Promise<void> {
    if (!this.#shared.available) throw new Error('the shared counters do not answer; each gateway counts for itself')
  }

  async stop(): Promise<void> {
    this.#shared.disconnect()
  }

  /** @returns why the request must not pass; undefined when it may, and its tokens are taken. */
  async take(charge: Charge): Promise<Refusal | undefined> {
    return (this.#empty.size === 0 ? undefined : this.#stillEmpty(charge)) ?? this.#join(charge)
  }

  #join(charge: Charge): Promise<Refusal | undefined> {
    const { shared, own } = charge
    if (this.#groups.size === 0) setImmediate(() => this.#decide())
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
    const { requests } = waiting
    return new Promise((decide) => requests.push(decide))
  }

  /** Everything that came in this turn. */
  async #decide(): Promise<void> {
    const groups = [...this.#groups.values()].map(({ shared, byOwn }) => ({ shared, all: [...byOwn.values()] }))
    this.#groups = new Map()
    for (const verdict of await this.#verdicts(groups)) {
      if (verdict.refusal !== undefined) this.#remember(verdict.refusal)
      verdict.demand.tell(verdict)
    }
  }

  /** Never rejects: what Redis does not count is counted here. */
  async #verdicts(groups: readonly Demands<Waiting>[]): Promise<Verdict<Waiting>[]> {
    if (this.#shared.available) {
      try {
        return await this.#shared.take(groups)
      } catch {
        // Who failed has said so.
      }
    }
    const demands = groups.flatMap(({ all }) => all)
    for (const { count } of demands) meteredLocally.inc(count)
    return demands.map((demand) => this.#local.take(demand))
  }

  #stillEmpty({ shared, own }: Charge): Refusal | undefined {
    const now = performance.now()
    for (const bucket of own === undefined ? [shared] : [own, shared]) {
      const waitMs = (this.#empty.get(bucket.key) ?? now) - now
      if (waitMs > 0) return { bucket, waitMs }
    }
    return undefined
  }

  #remember({ bucket, waitMs }: Refusal): void {
    const now = performance.now()
    this.#empty.delete(bucket.key)
    this.#empty.set(bucket.key, now + waitMs)
    for (const [key, until] of this.#empty) {
      if (until > now && this.#empty.size <= EMPTY_CAPACITY) return
      this.#empty.delete(key)
    }
  }
}
