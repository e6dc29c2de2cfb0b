import type { Session } from './session.ts'

interface Idle {
  readonly session: Session
  readonly goodbye: NodeJS.Timeout
}

/** Long enough for the next message of a burst, short enough for a server not to mind. */
const IDLE_MS = 3_000

/**
 * Sessions that have done their work and are kept for a moment: the next message for the same place often follows at
 * once, and is spared the greeting and TLS.
 */
export class IdleSessions {
  readonly #places = new Map<string, Idle[]>()

  /** A session that is still open, or undefined. It is the caller's from now on. */
  take(place: string): Session | undefined {
    for (let idle = this.#pop(place); idle; idle = this.#pop(place)) {
      clearTimeout(idle.goodbye)
      if (idle.session.usable) return idle.session
      idle.session.end()
    }
    return undefined
  }

  /** Takes a session over, for others or to say goodbye. */
  keep(place: string, session: Session): void {
    if (!session.usable || session.wornOut) {
      session.end()
      return
    }
    const goodbye = setTimeout(() => this.#end(place, session), IDLE_MS)
    const idle = this.#places.get(place) ?? []
    this.#places.set(place, idle)
    idle.push({ session, goodbye })
  }

  /** Says goodbye to all. */
  end(): void {
    for (const { session, goodbye } of [...this.#places.values()].flat()) {
      clearTimeout(goodbye)
      session.end()
    }
    this.#places.clear()
  }

  #end(place: string, session: Session): void {
    const others = (this.#places.get(place) ?? []).filter((idle) => idle.session !== session)
    if (others.length > 0) this.#places.set(place, others)
    else this.#places.delete(place)
    session.end()
  }

  /** The one used last: those that nobody needs come to their end. */
  #pop(place: string): Idle | undefined {
    const idle = this.#places.get(place)
    const last = idle?.pop()
    if (idle?.length === 0) this.#places.delete(place)
    return last
  }
}
