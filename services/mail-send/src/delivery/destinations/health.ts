import type { Outcome } from '../outcome/outcome.ts'
import { RecentMap } from './recent-map.ts'

/** No session came about at the last attempt. */
interface Down {
  readonly outcome: Outcome
  readonly begunAt: number
  readonly nextProbeAt: number
}

interface Trouble {
  down: Down | undefined
  /** When the attempt that is in progress began. */
  probedSince: number | undefined
}

/** What becomes of a delivery that is due at a destination which cannot be reached. */
export type Suspension =
  /** It comes again then. That is no attempt. */
  | { readonly kind: 'wait'; readonly until: Date }
  /** An attempt that began after it was suspended has failed; that counts as one of its own. */
  | { readonly kind: 'failed'; readonly outcome: Outcome }

/** Mean wait for the end of an attempt at another message, as most end soon. */
const PROBE_MS = 5_000

/**
 * What this process has learnt of destinations that are slow or cannot be reached. One that cannot be reached gets one
 * attempt at a time, with a pause after each that fails. What else is due for it is suspended until an attempt that
 * began later has ended, whose failure counts for all of it: a dead destination costs the same however much waits for
 * it, and nothing is given up because of what the destination was like before.
 */
export class DestinationHealth {
  readonly #pauseMs: number
  readonly #troubles = new RecentMap<Trouble>()

  /** @param pauseMs between two attempts to reach a destination. */
  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs
  }

  /** Whether the last attempt did not get an answer in time. */
  isSlow(destination: string): boolean {
    return this.#troubles.has(destination)
  }

  /**
   * What becomes of what is due now; undefined when an attempt is to be made.
   * @param since when the delivery was suspended first, if it is due again because of that.
   */
  suspension(destination: string, since?: number): Suspension | undefined {
    const trouble = this.#troubles.get(destination)
    if (!trouble?.down) return undefined
    const { down, probedSince } = trouble
    const now = Date.now()
    if (probedSince === undefined && now >= down.nextProbeAt) return undefined
    if (since !== undefined && down.begunAt >= since) return { kind: 'failed', outcome: ofAnother(down.outcome) }
    // What an attempt has lasted says how much longer it may: the longer it takes, the rarer is this asked.
    const waitMs = probedSince === undefined ? down.nextProbeAt - now : Math.min(now - probedSince, this.#pauseMs)
    const spreadMs = Math.min(this.#pauseMs, PROBE_MS) * (0.5 + Math.random())
    return { kind: 'wait', until: new Date(now + waitMs + spreadMs) }
  }

  /** To be called before an attempt. @returns what is to be called when it has ended, whatever its outcome. */
  begin(destination: string): () => void {
    const trouble = this.#troubles.get(destination)
    if (!trouble) return () => {}
    trouble.probedSince = Date.now()
    return () => {
      trouble.probedSince = undefined
    }
  }

  /** A server has answered. @param promptly whether it took no longer than one should. */
  answered(destination: string, promptly: boolean): void {
    if (promptly) this.#troubles.delete(destination)
    else this.tooSlow(destination)
  }

  /** No session came about within the time of a prompt one. It may yet. */
  tooSlow(destination: string): void {
    this.#set(destination, undefined)
  }

  /** No session came about at all. @param ms how long that took. */
  unreached(destination: string, outcome: Outcome, ms: number): void {
    const now = Date.now()
    this.#set(destination, { outcome, begunAt: now - ms, nextProbeAt: now + this.#pauseMs })
  }

  #set(destination: string, down: Down | undefined): void {
    const known = this.#troubles.get(destination)
    if (known) known.down = down
    else this.#troubles.set(destination, { down, probedSince: undefined })
  }
}

function ofAnother({ verdict }: Outcome): Outcome {
  const { status, text } = verdict
  return { kind: 'deferred', verdict: { status, text: `The attempt at another message failed: ${text}` } }
}
