import type { Bucket, Charge, Refusal } from './buckets.ts'

interface Known {
  /** Requests that may be admitted before they are counted. */
  ahead: number
  aheadUntil: number
  emptyUntil: number
}

/** How long the last answer about a bucket is valid. */
const FRESH_MS = 100
/** Most buckets that are remembered. */
const CAPACITY = 20_000

/**
 * The last known state of shared buckets. While a bucket was more than half full a moment ago, requests are admitted
 * before they are counted; below that each waits for the shared counter. For an empty bucket the time is known until
 * which it stays empty.
 */
export class LocalAllowance {
  /** In the order of the answers. */
  readonly #known = new Map<string, Known>()

  /** Whether a request may be admitted at once; it must then be counted soon. */
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

  /** Why a request cannot be admitted yet; undefined when the shared counter must be asked. */
  refusal({ shared, own }: Charge): Refusal | undefined {
    const now = performance.now()
    for (const bucket of own === undefined ? [shared] : [own, shared]) {
      const waitMs = (this.#known.get(bucket.key)?.emptyUntil ?? now) - now
      if (waitMs > 0) return { bucket, waitMs }
    }
    return undefined
  }

  /** @param tokens that are left, minus those of requests that were admitted and are not counted yet. */
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
