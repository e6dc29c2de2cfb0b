import { pause, Semaphore } from '@restante/service/concurrency'

/** Soon enough that the workers do not run dry in between. */
const LOOK_EVERY_MS = 50
/** First attempts that may wait when late events are handled, for each request at once; a batch adds its own to them. */
const WAITING_PER_REQUEST = 2

/** A batch that takes longer is one whose events fail and are repeated, for which others need not wait. */
const LONGEST_TURN_MS = 1_000

interface GivingWayOptions {
  /** How many deliveries are due and wait for their first request, among the newest `most` that are due. */
  readonly waiting: (most: number) => Promise<number>
  /** Requests of this process at once. */
  readonly concurrency: number
}

/**
 * Late events are handled only while few deliveries wait for their first request, so that one of a fresh event finds few
 * before it. Postponed deliveries do not count: a receiver that is slow must not hold the events of others up.
 */
export class GivingWay {
  readonly #options: GivingWayOptions
  /** Batches pass one by one, as each is counted only once it has committed. */
  readonly #turns = new Semaphore(1)

  constructor(options: GivingWayOptions) {
    this.#options = options
  }

  readonly giveWay = async (signal: AbortSignal): Promise<() => void> => {
    const pass = await this.#turns.take()
    while (!signal.aborted && (await this.#isCrowded())) await pause(LOOK_EVERY_MS, signal)
    let isHeld = true
    const leave = () => {
      clearTimeout(tooLong)
      if (isHeld) pass()
      isHeld = false
    }
    const tooLong = setTimeout(leave, LONGEST_TURN_MS)
    return leave
  }

  /** Without an answer the events are tried: the consumer knows how to wait for a database. */
  async #isCrowded(): Promise<boolean> {
    const { concurrency } = this.#options
    const most = concurrency * WAITING_PER_REQUEST
    // Among those that were postponed, of which there may be more.
    const waiting = await this.#options.waiting(10 * most).catch(() => 0)
    return waiting >= most
  }
}
