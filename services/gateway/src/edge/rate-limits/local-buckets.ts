import type { Bucket, Demand, Refusal, Verdict } from './buckets.ts'

/** Token buckets of this process only, with the same arithmetic as the script's, for use while Redis is down. */
export class LocalBuckets {
  /** When each bucket is full again, in microseconds; in the order of their last use. */
  readonly #full = new Map<string, number>()
  readonly #capacity: number

  /**
   * @param capacity most buckets that are kept. Beyond it the least recently used is dropped, and counts as full again.
   */
  constructor(capacity = 50_000) {
    this.#capacity = capacity
  }

  take<D extends Demand>(demand: D): Verdict<D> {
    const { shared, own } = demand.charge
    const now = performance.now() * 1000
    const buckets = own === undefined ? [shared] : [own, shared]
    for (const bucket of buckets) this.#spend(bucket, demand.owed, now)
    const granted = Math.max(0, Math.min(demand.asked, ...buckets.map((bucket) => this.#tokens(bucket, now))))
    for (const bucket of buckets) this.#spend(bucket, granted, now)
    return { demand, granted, refusal: granted < demand.asked ? this.#refusal(buckets, now) : undefined }
  }

  #tokens(bucket: Bucket, now: number): number {
    return Math.floor((bucket.burst * bucket.intervalUs - this.#lacking(bucket, now)) / bucket.intervalUs)
  }

  /** Time until the bucket is full. */
  #lacking({ key }: Bucket, now: number): number {
    return Math.max(0, (this.#full.get(key) ?? 0) - now)
  }

  #spend(bucket: Bucket, tokens: number, now: number): void {
    if (tokens === 0) return
    const lacking = this.#lacking(bucket, now) + tokens * bucket.intervalUs
    const full = now + Math.min(lacking, 2 * bucket.burst * bucket.intervalUs)
    this.#full.delete(bucket.key)
    this.#full.set(bucket.key, full)
    this.#evict(now)
  }

  #refusal(buckets: readonly Bucket[], now: number): Refusal | undefined {
    const waits = buckets.map((bucket) => {
      const waitUs = this.#lacking(bucket, now) + bucket.intervalUs - bucket.burst * bucket.intervalUs
      return { bucket, waitMs: Math.max(0, waitUs / 1000) }
    })
    return waits.toSorted((a, b) => b.waitMs - a.waitMs)[0]
  }

  #evict(now: number): void {
    for (const [key, full] of this.#full) {
      if (full > now && this.#full.size <= this.#capacity) return
      this.#full.delete(key)
    }
  }
}
