import type { Bucket, Charge, Refusal } from './buckets.ts'

interface Known {
  /** Requests that may pass without being asked about. */
  ahead: number
  aheadUntil: number
  emptyUntil: number
}

/** How long the last answer about a bucket is good for. */
const FRESH_MS = 100
/** Buckets that something is known of. */
const CAPACITY = 20_000

/**
 * What the last answers said of buckets. While a bucket was more than half full a moment ago, requests pass ahead of
 * being counted; from there on each is asked about. Of a bucket that is empty it is known until when.
 */
export class LocalAllowance {
  /** In the order of the answers. */
  readonly #known = new Map<string, Known>()

  /** Whether a request may pass at once; then it is to be counted soon. */
  passes({ shared, own }: Charge): boolean {
    const now = performance.now()
    const inShared = this.#known.get(shared.key)
    if (inShared === undefined || inShared.ahead < 1 || inShared.aheadUntil < now) return false
    if (own !== undefined) {
      const inOwn = this.#known.get(own.key)
      if (inOwn === undefined || inOwn.ahead < 1 || inOwn.aheadUntil < now) return false
      inOwn.ahead--
    }
    inShared.ahead--
    return true
  }

  /** Why a request cannot pass yet; undefined when that must be asked. */
  refusal({ shared, own }: Charge): Refusal | undefined {
    const now = performance.now()
    for (const bucket of own === undefined ? [shared] : [own, shared]) {
      const waitMs = (this.#known.get(bucket.key)?.emptyUntil ?? now) - now
      if (waitMs > 0) return { bucket, waitMs }
    }
    return undefined
  }

  /** @param tokens that are left, less those of requests that have passed and are not counted yet. */
  learnLeft({ key, burst }: Bucket, tokens: number): void {
    const now = performance.now()
    this.#learn(key, now, { ahead: Math.floor(tokens - burst / 2), aheadUntil: now + FRESH_MS, emptyUntil: 0 })
  }

  learnEmpty({ bucket, waitMs }: Refusal): void {
    const now = performance.now()
    this.#learn(bucket.key, now, { ahead: 0, aheadUntil: 0, emptyUntil: now + waitMs })
  }

  #learn(key: string, now: number, known: Known): void {
    this.#known.delete(key)
    this.#known.set(key, known)
    for (const [old, { aheadUntil, emptyUntil }] of this.#known) {
      if (Math.max(aheadUntil, emptyUntil) > now && this.#known.size <= CAPACITY) return
      this.#known.delete(old)
    }
  }
}
