import { within } from '@restante/service/concurrency'
import type { Database, Statement } from '@restante/service/database'
import { CHANNEL } from './outbox.ts'
import { LEAD } from './statements.ts'

type Connection = Awaited<ReturnType<Database['direct']>>

/** Timeout for a statement of the relay; afterwards the connection is closed. */
const STATEMENT_TIMEOUT_MS = 10_000

/** A leader polls all the time; one that is silent for this long is frozen, and another may lead. */
const SILENCE_MS = 60_000

// The server notices within about 10 s that a leader's machine is gone, and frees its lock. The relay does not wait until
// its marks are on disk: a mark that a crash of PostgreSQL loses costs a second publication, which consumers recognize.
const SETTINGS = `set tcp_keepalives_idle = 4; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3;
set synchronous_commit = off;
set statement_timeout = ${STATEMENT_TIMEOUT_MS}; set idle_session_timeout = ${SILENCE_MS}`

/**
 * One PostgreSQL session that takes part in the election of the relay's leader. The lock and the work use the same
 * connection: a leader that lost its connection can mark nothing, and the holder of the lock is the only one that
 * publishes.
 */
export class Candidate {
  readonly #connection: Connection
  #ended = false

  private constructor(connection: Connection, onNotice: () => void) {
    this.#connection = connection
    connection.on('end', () => {
      this.#ended = true
      onNotice()
    })
    connection.on('notification', onNotice)
  }

  /** @param onNotice called when events were committed, and when the connection ends. */
  static async open(db: { direct(): Promise<Connection> }, onNotice: () => void): Promise<Candidate> {
    const connection = await db.direct()
    const candidate = new Candidate(connection, onNotice)
    try {
      await connection.query(SETTINGS)
      return candidate
    } catch (error) {
      candidate.close()
      throw error
    }
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Tries to become the leader; on success, every process's commits are notified to this one from now on. */
  async tryLead(): Promise<boolean> {
    const [answer] = await this.query(LEAD)
    if (!answer?.leads) return false
    await this.#connection.query(`listen ${CHANNEL}`)
    return true
  }

  async query<Row, Values extends readonly unknown[]>(
    statement: Statement<Row, Values>,
    ...values: Values
  ): Promise<Row[]> {
    const query = this.#connection.query<Row & Record<string, unknown>>({ ...statement, values: [...values] })
    const { rows } = await within(STATEMENT_TIMEOUT_MS + 1_000, query, () => {
      this.close()
      throw new Error('PostgreSQL does not answer')
    })
    return rows
  }

  /** Closes the connection, which releases the lock. */
  close(): void {
    this.#ended = true
    this.#connection.end().catch(() => {})
  }
}
