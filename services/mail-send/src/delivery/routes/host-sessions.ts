import { deferredBy, type Outcome } from '../outcome/outcome.ts'
import { Session } from '../smtp/session.ts'

/**
 * Opens a session with the best host that is not passed over, and adds the hosts with which none came about to those.
 * @returns undefined when there is no other host.
 */
export type OpenSession = (passedOver: string[], signal: AbortSignal) => Promise<Session | Outcome | undefined>

/**
 * The sessions of one attempt with the hosts of its destination. Each host is connected to once; a further one only when
 * a recipient needs it.
 */
export class HostSessions {
  readonly #openNext: OpenSession
  readonly #sessions: Session[] = []
  readonly #passedOver: string[] = []
  /** What became of the last host, when none is left. */
  #exhausted: Outcome | undefined

  constructor(openNext: OpenSession) {
    this.#openNext = openNext
  }

  /** All that have not been forgotten, the first host's first. */
  get all(): readonly Session[] {
    return this.#sessions
  }

  /** Takes over a session that is open already. */
  add(session: Session): void {
    this.#sessions.push(session)
    this.#passedOver.push(hostOf(session))
  }

  /** Ends a session, so that its host can be connected to again. */
  forget(session: Session): void {
    session.end()
    this.#sessions.splice(this.#sessions.indexOf(session), 1)
    this.#passedOver.splice(this.#passedOver.indexOf(hostOf(session)), 1)
    this.#exhausted = undefined
  }

  /** @returns the first session that can be used and was not `tried`, or one with the next host; otherwise why not. */
  async next(tried: ReadonlySet<Session>, signal: AbortSignal): Promise<Session | Outcome> {
    const open = signal.aborted ? undefined : this.#sessions.find((session) => session.usable && !tried.has(session))
    return open ?? this.#exhausted ?? this.#connect(signal)
  }

  async #connect(signal: AbortSignal): Promise<Session | Outcome> {
    const next = await this.#openNext(this.#passedOver, signal)
    if (next instanceof Session) {
      this.add(next)
      return next
    }
    const hadSessions = this.#sessions.length > 0
    const broke = deferredBy('4.4.2', 'The connection broke before this recipient.')
    this.#exhausted = next && !hadSessions ? next : broke
    return this.#exhausted
  }
}

/** What the hosts of one destination are told apart by. */
function hostOf({ remote }: Session): string {
  return remote.address ?? remote.name
}
