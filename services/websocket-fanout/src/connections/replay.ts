import { LIMITS } from '@restante/contracts/vocabulary'
import type { StreamCursors } from '../cursors/stream-cursors.ts'
import { withCursor } from '../cursors/with-cursor.ts'
import { type LogReader, SweptError, type Wanted } from '../replay/reader.ts'
import { reachOf } from '../subscriptions/reach.ts'
import { reaches, type StreamEvent } from '../subscriptions/subscriptions.ts'
import { CLOSE } from './closes/close-codes.ts'
import type { Connection } from './connection.ts'

export interface ReplayDeps {
  readonly reader: LogReader
  readonly cursors: StreamCursors
  /** The position up to which this instance has delivered live events. */
  readonly position: () => bigint
}

/** A subscription that resumes. */
export interface Resumed {
  /** Its scopes, in the form of `scopesOf`. */
  readonly scopes: readonly string[]
  readonly after: bigint
  /** What its cursors are valid for. */
  readonly cursorScope: string
}

/**
 * Sends what a subscription has missed, then `resumed`, and goes live with no gap and no repetition. It begins where
 * the connection was paused: up to there (`pausedAt`) the other subscriptions have got their events live, and after it
 * this reads for all of them, so that the connection keeps the order of the log. It reads pages up to the position that
 * this instance has delivered, and then keeps the few live events that come while it reads the last page.
 *
 * It ends early, with the connection closed, when the client reads too slowly or what it missed leaves the log meanwhile:
 * the last cursor continues on another connection.
 */
export async function replay(deps: ReplayDeps, connection: Connection, resumed: Resumed): Promise<void> {
  const run = new Replay(deps, connection, resumed)
  try {
    await run.toLive()
  } catch (error) {
    if (error instanceof SweptError) return connection.close(CLOSE.overload, 'Replay fell behind the log')
    // The client must not take what it got for complete.
    connection.log.error({ err: error }, 'replay failed')
    connection.close(CLOSE.internal, 'Replay failed')
  }
}

class Replay {
  readonly #deps: ReplayDeps
  readonly #connection: Connection
  readonly #resumed: Resumed
  readonly #resumedScopes: ReadonlySet<string>
  readonly #pausedAt: bigint
  readonly #deadline = performance.now() + LIMITS.stream.replay
  #at: bigint

  constructor(deps: ReplayDeps, connection: Connection, resumed: Resumed) {
    this.#deps = deps
    this.#connection = connection
    this.#resumed = resumed
    this.#resumedScopes = new Set(resumed.scopes)
    connection.pause()
    this.#pausedAt = deps.position()
    this.#at = resumed.after
  }

  async toLive(): Promise<void> {
    const { position, cursors } = this.#deps
    while (this.#mayGoOn()) {
      await this.#through(position())
      if (!this.#mayGoOn()) return
      this.#connection.hold()
      await this.#through(position())
      const cursor = cursors.seal(this.#resumed.cursorScope, { position: this.#at })
      const organization_id = this.#connection.caller.organization_id
      if (this.#connection.release({ type: 'resumed', organization_id, cursor })) return
    }
  }

  #mayGoOn(): boolean {
    if (performance.now() > this.#deadline) this.#connection.close(CLOSE.overload, 'Replay took too long')
    return this.#connection.isOpen
  }

  async #through(target: bigint): Promise<void> {
    await this.#send(target < this.#pausedAt ? target : this.#pausedAt, this.#resumed.scopes, this.#isMissed)
    await this.#send(target, this.#connection.subscriptions.scopes, this.#isWanted)
  }

  async #send(
    through: bigint,
    scopes: readonly string[],
    matches: (event: StreamEvent, position: bigint) => boolean,
  ): Promise<void> {
    const { caller } = this.#connection
    const wanted = { organizationId: caller.organization_id, scopes: reachOf(caller, scopes), matches, through }
    while (this.#at < through && this.#mayGoOn()) {
      const leave = await this.#deps.reader.enter('streams', caller.organization_id)
      try {
        if (this.#mayGoOn()) await this.#sendPage({ ...wanted, after: this.#at })
      } finally {
        leave()
      }
    }
  }

  async #sendPage(wanted: Wanted): Promise<void> {
    const page = await this.#deps.reader.page(wanted)
    for (const { position, payload } of page.events) {
      const cursor = this.#deps.cursors.seal(this.#resumed.cursorScope, { position })
      await this.#connection.sendPaced(withCursor(Buffer.from(payload), cursor))
      if (!this.#mayGoOn()) return
    }
    this.#at = page.through
  }

  /** What all subscriptions get, of events after the pause. */
  readonly #isWanted = (event: StreamEvent, position: bigint): boolean =>
    reaches(this.#connection.caller, event) && this.#connection.subscriptions.matches(event, position)

  /** The same of events before it, without those that other subscriptions have got. */
  readonly #isMissed = (event: StreamEvent, position: bigint): boolean =>
    this.#isWanted(event, position) &&
    !this.#connection.subscriptions.matchedWithout(this.#resumedScopes, event, position)
}
