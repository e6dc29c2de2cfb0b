import type { Outcome } from '../outcome/outcome.ts'
import { RecentMap } from './recent-map.ts'

/** No session came about at the last attempt. */
interface Down {
  readonly outcome: Outcome
  readonly nextProbeAt: number
}

interface Trouble {
  down: Down | undefined
  probing: boolean
}

/**
 * What this process has learnt of destinations that are slow or cannot be reached. One that cannot be reached gets one
 * attempt at a time, with a pause after each that fails; what else is due for it in the meantime is deferred without
 * another connection, so that a dead destination costs the same however much waits for it.
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

  /** The outcome of what is due now, without an attempt; undefined when an attempt is to be made. */
  suspension(destination: string): Outcome | undefined {
    const trouble = this.#troubles.get(destination)
    if (!trouble?.down) return undefined
    const { outcome, nextProbeAt } = trouble.down
    return trouble.probing || Date.now() < nextProbeAt ? suspended(outcome) : undefined
  }

  /** To be called before an attempt. @returns what is to be called when it has ended, whatever its outcome. */
  begin(destination: string): () => void {
    const trouble = this.#troubles.get(destination)
    if (!trouble) return () => {}
    trouble.probing = true
    return () => {
      trouble.probing = false
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

  /** No session came about at all. */
  unreached(destination: string, outcome: Outcome): void {
    this.#set(destination, { outcome, nextProbeAt: Date.now() + this.#pauseMs })
  }

  #set(destination: string, down: Down | undefined): void {
    const known = this.#troubles.get(destination)
    if (known) known.down = down
    else this.#troubles.set(destination, { down, probing: false })
  }
}

function suspended({ verdict }: Outcome): Outcome {
  const { status, text } = verdict
  return { kind: 'deferred', verdict: { status, text: `Not tried again so soon. The last attempt: ${text}` } }
}
