import type { Session } from './session.ts'

interface Idle {
  readonly session: Session
  readonly goodbye: NodeJS.Timeout
}

/** Long enough for the next message of a burst, short enough to be acceptable to servers. */
const IDLE_MS = 3_000

/**
 * Sessions that are kept for a moment after their message: the next one for the same place often follows at once, and
 * saves the greeting and TLS.
 */
export class IdleSessions {
  readonly #places = new Map<string, Idle[]>()

  /** Returns a session that is still open, or undefined. The caller owns it from then on. */
  take(place: string): Session | undefined {
    for (let idle = this.#pop(place); idle; idle = this.#pop(place)) {
      clearTimeout(idle.goodbye)
      if (idle.session.usable) return idle.session
      idle.session.end()
    }
    return undefined
  }

  /** Takes over a session, to be reused or ended with QUIT. */
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

  /** Ends all sessions. */
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

  /** The one used last, so that sessions which are not needed expire. */
  #pop(place: string): Idle | undefined {
    const idle = this.#places.get(place)
    const last = idle?.pop()
    if (idle?.length === 0) this.#places.delete(place)
    return last
  }
}
