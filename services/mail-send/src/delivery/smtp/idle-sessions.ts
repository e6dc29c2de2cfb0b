import type { Session } from './session.ts'

interface Idle {
  readonly session: Session
  readonly goodbye: NodeJS.Timeout
}

/** Long enough for the next message of a burst, short enough to be acceptable to servers. */
const IDLE_MS = 3_000

/**
 * Sessions that are kept for a moment after their message: the next one to the same hosts often follows at once, and
 * saves the greeting and TLS.
 */
export class IdleSessions {
  readonly #byKey = new Map<string, Idle[]>()

  /** Returns a session that is still open, or undefined. The caller owns it from then on. */
  take(key: string): Session | undefined {
    for (let idle = this.#pop(key); idle; idle = this.#pop(key)) {
      clearTimeout(idle.goodbye)
      if (idle.session.usable) return idle.session
      idle.session.end()
    }
    return undefined
  }

  /** Takes over a session, to be reused or ended with QUIT. */
  keep(key: string, session: Session): void {
    if (!session.usable || session.wornOut) {
      session.end()
      return
    }
    const goodbye = setTimeout(() => this.#end(key, session), IDLE_MS)
    const idle = this.#byKey.get(key) ?? []
    this.#byKey.set(key, idle)
    idle.push({ session, goodbye })
  }

  /** Ends all sessions. */
  end(): void {
    for (const { session, goodbye } of [...this.#byKey.values()].flat()) {
      clearTimeout(goodbye)
      session.end()
    }
    this.#byKey.clear()
  }

  #end(key: string, session: Session): void {
    const others = (this.#byKey.get(key) ?? []).filter((idle) => idle.session !== session)
    if (others.length > 0) this.#byKey.set(key, others)
    else this.#byKey.delete(key)
    session.end()
  }

  /** The one used last, so that sessions which are not needed expire. */
  #pop(key: string): Idle | undefined {
    const idle = this.#byKey.get(key)
    const last = idle?.pop()
    if (idle?.length === 0) this.#byKey.delete(key)
    return last
  }
}
