import { Crowd } from './crowd.ts'

/** Minimum delay, in milliseconds, before a delivery that found no free slot is retried. */
const SHORTEST_WAIT_MS = 100
/** Deliveries that would wait longer, in milliseconds, have no time of their own: they are a crowd. */
const LONGEST_WAIT_MS = 30_000
/**
 * Retries per request that the receiver is expected to answer: what was measured under load is too slow afterwards, and
 * a retry that finds no slot costs little.
 */
const RETRIES_PER_SLOT = 2
/** Assumed duration of a request until the first one has ended. */
const UNKNOWN_DURATION_MS = 1_000

/** Deliveries that wait for a slot here, as a multiple of the slots: each occupies a worker, of which others need some. */
const MOST_WAITING = 3

/** Postponed deliveries that are called for to wait, as a multiple of the slots; fewer than may. */
const CALLED_PER_SLOT = 2
/** Postponed deliveries that are remembered for each receiver; others come at the time that they were given. */
const MOST_REMEMBERED = 1_000
/** Then a delivery that was called for has come, or another process has taken it. */
const CALLED_MS = 5_000
/** How often receivers are forgotten that are idle, and of whose postponed deliveries other processes have taken the rest. */
const SWEEP_MS = 60_000

/** A delivery that waits for a slot. */
interface Waiting {
  readonly admit: () => void
}

/** A delivery that found no slot, and the time it was given. */
export interface Postponed {
  readonly id: string
  readonly dueAt: Date
}

interface Receiver {
  count: number
  readonly waiting: Waiting[]
  /** Deliveries that were postponed, the earliest first, and those among them that were called for since, with the time. */
  readonly postponed: Map<string, Date>
  readonly called: Map<string, number>
  /** Of the request that ended last. */
  durationMs: number
  /** The latest retry time that was assigned. */
  retryAtMs: number
  readonly crowd: Crowd
}

/**
 * Limits the concurrent requests per key, so that a slow receiver leaves capacity for others. A delivery that finds no
 * free slot is postponed, at twice the rate at which the receiver answers: a thousand waiting deliveries must not all retry
 * continuously. When the receiver has become faster than it was then, it is called for earlier.
 */
export class InFlight {
  readonly #maxPerKey: number
  readonly #receivers = new Map<string, Receiver>()
  #sweptAt = Date.now()

  constructor(maxPerKey: number) {
    this.#maxPerKey = maxPerKey
  }

  /** @returns whether a slot was free; if so, `leave` must be called. */
  enter(key: string): boolean {
    const receiver = this.#receivers.get(key)
    if (!receiver) {
      this.#sweep(Date.now())
      this.#receivers.set(key, {
        count: 1,
        waiting: [],
        postponed: new Map(),
        called: new Map(),
        durationMs: UNKNOWN_DURATION_MS,
        retryAtMs: 0,
        crowd: new Crowd(),
      })
      return true
    }
    if (receiver.count >= this.#maxPerKey) return false
    receiver.count++
    return true
  }

  /**
   * Like `enter`, but waits for a slot that is expected to become free sooner than a retry would find it: a burst for a
   * receiver that answers at once need not be postponed.
   * @param id of the delivery
   */
  async enterSoon(key: string, id: string): Promise<boolean> {
    const known = this.#receivers.get(key)
    known?.postponed.delete(id)
    known?.called.delete(id)
    if (this.enter(key)) return true
    const receiver = this.#receivers.get(key)
    if (!receiver) return false
    const { waiting, durationMs } = receiver
    const expectedMs = (durationMs * (waiting.length + 1)) / this.#maxPerKey
    if (waiting.length >= MOST_WAITING * this.#maxPerKey || expectedMs > SHORTEST_WAIT_MS) return false
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        waiting.splice(waiting.indexOf(one), 1)
        resolve(false)
      }, SHORTEST_WAIT_MS)
      const one: Waiting = {
        admit() {
          clearTimeout(late)
          resolve(true)
        },
      }
      waiting.push(one)
    })
  }

  /**
   * @param durationMs how long the slot was held.
   * @returns postponed deliveries for which there is room now, so that they should come at once.
   */
  leave(key: string, durationMs: number, now = Date.now()): Postponed[] {
    const receiver = this.#receivers.get(key)
    if (!receiver) return []
    receiver.durationMs = durationMs
    this.#free(key, receiver)
    const called = [...receiver.postponed].slice(0, this.#room(receiver, now)).map(([id, dueAt]) => ({ id, dueAt }))
    for (const { id } of called) {
      receiver.postponed.delete(id)
      receiver.called.set(id, now)
    }
    return called
  }

  /** Gives a slot back that was not used: it says nothing about the receiver. */
  giveBack(key: string): void {
    const receiver = this.#receivers.get(key)
    if (receiver) this.#free(key, receiver)
  }

  #free(key: string, receiver: Receiver): void {
    const next = receiver.waiting.shift()
    if (next) next.admit()
    else receiver.count--
    // As long as deliveries are remembered, the next one that leaves calls for more of them.
    if (receiver.count === 0 && receiver.postponed.size === 0) this.#receivers.delete(key)
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    for (const [key, { count, postponed }] of this.#receivers) {
      const isOver = [...postponed.values()].every((dueAt) => dueAt.getTime() < now)
      if (count === 0 && isOver) this.#receivers.delete(key)
    }
  }

  /** For how many postponed deliveries there is room: in slots, and waiting where that is worth it. */
  #room({ count, waiting, called, durationMs }: Receiver, now: number): number {
    for (const [id, since] of called) if (now - since > CALLED_MS) called.delete(id)
    const mayWait = durationMs / this.#maxPerKey <= SHORTEST_WAIT_MS
    const places = mayWait ? this.#maxPerKey * CALLED_PER_SLOT - waiting.length : 0
    return Math.max(0, this.#maxPerKey - count + places - called.size)
  }

  /** Remembers a delivery that found no slot. @returns when it may be retried. */
  postpone(key: string, id: string, now: number): Date {
    const receiver = this.#receivers.get(key)
    if (!receiver) return new Date(now + SHORTEST_WAIT_MS)
    const dueAt = new Date(this.#retryTime(receiver, now))
    if (receiver.postponed.size < MOST_REMEMBERED) receiver.postponed.set(id, dueAt)
    return dueAt
  }

  #retryTime(receiver: Receiver, now: number): number {
    const apartMs = receiver.durationMs / (RETRIES_PER_SLOT * this.#maxPerKey)
    const retryAtMs = Math.max(receiver.retryAtMs + apartMs, now + SHORTEST_WAIT_MS)
    receiver.retryAtMs = Math.min(retryAtMs, now + LONGEST_WAIT_MS)
    return retryAtMs > receiver.retryAtMs ? now + receiver.crowd.waitMs(now, 1_000 / apartMs) : retryAtMs
  }
}
