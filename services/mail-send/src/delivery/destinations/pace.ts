import { RecentMap } from './recent-map.ts'

/** When messages may go to one destination. */
interface Clock {
  /** The next message may go then. */
  freeAt: number
  /** Messages that came too early are told to come again then, one after the other. */
  bookedUntil: number
}

const MINUTE_MS = 60_000
/** Time that was not used may be made up for, because timers are looked at a few times a second. */
const CATCH_UP_MS = 1_000

/**
 * Spreads the messages of this process to each destination evenly over time. What comes too early gets a time at which
 * there is room for it, each another one, so that a long queue is not tried over and over.
 */
export class Pace {
  readonly #intervalMs: number
  readonly #clocks = new RecentMap<Clock>()

  /** @param perMinute messages to one destination; undefined: any number. */
  constructor(perMinute: number | undefined) {
    this.#intervalMs = perMinute === undefined ? 0 : MINUTE_MS / perMinute
  }

  /** Takes the next places of `messages`. @returns when to come again, if that is not now. */
  take(destination: string, messages: number, now = Date.now()): number | undefined {
    if (this.#intervalMs === 0) return undefined
    const clock = this.#clockOf(destination, now)
    const span = messages * this.#intervalMs
    if (clock.freeAt <= now) {
      clock.freeAt = Math.max(clock.freeAt, now - CATCH_UP_MS) + span
      return undefined
    }
    const at = Math.max(clock.freeAt, clock.bookedUntil)
    clock.bookedUntil = at + span
    return at
  }

  #clockOf(destination: string, now: number): Clock {
    const known = this.#clocks.get(destination)
    if (known) return known
    const clock = { freeAt: now, bookedUntil: now }
    this.#clocks.set(destination, clock)
    return clock
  }
}
