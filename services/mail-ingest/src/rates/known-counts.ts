import type { Counter } from './counter.ts'
import { WINDOW_MS } from './script.ts'

/** The locally known state of one counter. */
export interface Known {
  readonly counter: Counter
  /** The hour to which `count` belongs, in hours since 1970. `before` belongs to the hour before it. */
  hour: number
  count: number
  before: number
  /** Counted locally and not in Redis yet; part of `count`. */
  owed: number
  /** When Redis last returned the counts, on the monotonic clock. */
  syncedAt: number
}

/**
 * The counters in use by this process, with the script's arithmetic: the last values from Redis, plus what was counted
 * locally since. While Redis is down, the limits are based on these only.
 */
export class KnownCounts {
  /** In the order of their last use. */
  readonly #known = new Map<string, Known>()
  readonly #capacity: number

  /** @param capacity most counters that are kept; beyond it the least recently used is dropped. */
  constructor(capacity = 50_000) {
    this.#capacity = capacity
  }

  of(counter: Counter): Known {
    const id = idOf(counter)
    const hour = Math.floor(Date.now() / WINDOW_MS)
    const known = this.#known.get(id) ?? {
      counter,
      hour,
      count: 0,
      before: 0,
      owed: 0,
      syncedAt: Number.NEGATIVE_INFINITY,
    }
    if (known.hour < hour) {
      known.before = known.hour === hour - 1 ? known.count : 0
      known.count = 0
      known.owed = 0
      known.hour = hour
    }
    this.#known.delete(id)
    this.#known.set(id, known)
    this.#evict(hour)
    return known
  }

  #evict(hour: number): void {
    for (const [id, known] of this.#known) {
      if (this.#known.size <= this.#capacity && known.hour >= hour - 1) return
      this.#known.delete(id)
    }
  }
}

export function idOf({ group, key }: Counter): string {
  return `{${group}}:${key}`
}

/**
 * What counts against the limit now: all of the current hour, and of the previous hour the share that is within the
 * last 60 minutes.
 */
export function used({ hour, count, before }: Known): number {
  const part = Math.min(1, Math.max(0, Date.now() / WINDOW_MS - hour))
  return count + before * (1 - part)
}
