import type { Counter } from './counter.ts'
import { WINDOW_MS } from './script.ts'

/** What this process knows of one counter. */
export interface Known {
  readonly counter: Counter
  /** Hours since 1970 in which `count` was counted. */
  hour: number
  count: number
  before: number
  /** Counted here and not in Redis yet; part of `count`. */
  owed: number
  /** Of the clock that cannot be set back: when Redis last gave the counts. */
  syncedAt: number
}

/**
 * The counters that this process has to do with, by the arithmetic of the script: the last that Redis said of each, and
 * what was counted here since. While Redis is away it is all that the limits go by.
 */
export class KnownCounts {
  /** In the order of their last use. */
  readonly #known = new Map<string, Known>()
  readonly #capacity: number

  /** @param capacity counters that are remembered; beyond it the longest unused is forgotten. */
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

/** What counts against the limit now: the hour before by the part of it that is less than an hour ago. */
export function used({ hour, count, before }: Known): number {
  const part = Math.min(1, Math.max(0, Date.now() / WINDOW_MS - hour))
  return count + before * (1 - part)
}
