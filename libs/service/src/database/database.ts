import pg from 'pg'
import type { EngineTrust } from '../engines/index.ts'
import { isStalePlan } from '../errors/infrastructure.ts'
import type { Component } from '../process/component.ts'
import { connectionTo, EnginePool, openClient } from './access/connection.ts'
import { isSerializationFailure, isTransactionAborted, isUnanswered } from './errors.ts'
import { execute, type Queryable, type Statement, unnamed } from './statement.ts'
import { countDatabaseError, reportPool, transactionSeconds } from './telemetry.ts'

/**
 * One open transaction: whatever is written through it commits together, the outbox rows included. Statements reach
 * PostgreSQL in the order of the calls and run in that order, so those that need no earlier result are started together
 * (`Promise.all`): they cost one round trip, and a statement that follows a lock sees what the lock waited for.
 */
export interface Tx extends Queryable {
  /** Runs `notice` once the commit is durable; never after a rollback. It must not throw. */
  afterCommit(notice: () => void): void
}

/** Whatever runs statements and transactions: the part of a `Database` that libraries need. */
export interface Transactional extends Queryable {
  /** Runs `work` in one transaction, which commits when it resolves. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
}

/** A transaction as `Database` holds it while its work runs. */
export interface OpenTx {
  readonly tx: Tx
  readonly notices: readonly (() => void)[]
  /** The failure of the statement that aborted the transaction, for an error that only says that it is aborted. */
  readonly causeOf: (error: unknown) => unknown
  /**
   * Called before the commit and before the rollback: ends what else uses the connection, and lets `tx` refuse further
   * statements, which would take part in the next transaction of the connection.
   */
  leave(): Promise<void>
}

/**
 * Timeouts in milliseconds: a database that hangs must not make the service hang. Each timeout surfaces as an
 * infrastructure failure. The server's limits are shorter than the client's, so that a statement which is merely slow
 * is ended by the server and leaves its connection usable.
 */
export interface Timeouts {
  /** For a connection: opening one, or waiting for a free one. */
  readonly connectMs: number
  /** For a lock. */
  readonly lockMs: number
  /** For a statement, enforced by the server. */
  readonly statementMs: number
  /** For the answer to a statement, enforced by this process. */
  readonly answerMs: number
}

export interface DatabaseOptions {
  readonly url: string
  /** A URL that reaches PostgreSQL directly when `url` goes through a transaction pooler. Default: `url`. */
  readonly directUrl?: string | undefined
  /** The authorities that the server's certificate is accepted from, when a URL has `sslmode=verify-full`. */
  readonly trust?: EngineTrust | undefined
  /** Whether connections keep named prepared statements. Default true. */
  readonly prepared?: boolean | undefined
  /** Connections of this process. Default 6. */
  readonly poolSize?: number | undefined
  readonly applicationName: string
  /** Default 5, 8, 10 and 12 s. */
  readonly timeouts?: Timeouts | undefined
}

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
  /** How often a transaction is retried after a serialization failure or deadlock. Default 3. */
  readonly retries?: number
}

const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 5_000, lockMs: 8_000, statementMs: 10_000, answerMs: 12_000 }
/** The server ends a transaction that idles this long, so that stuck work cannot hold its locks forever. */
const IDLE_IN_TRANSACTION_MS = 20_000
/**
 * Statements here take a few milliseconds; compiling one first, which PostgreSQL does when it expects to read many rows,
 * takes about 20. And a plan that was made while a table was nearly empty must not read all of it when it has grown
 * (decision 110).
 */
export const PLANNING = '-c jit=off -c enable_seqscan=off'

/** One service's database: its pool, and the only way to open a transaction. */
export class Database implements Transactional, Component {
  readonly name = 'database'
  readonly stage = 'base'
  protected readonly pool: pg.Pool
  readonly #directConfig: pg.ClientConfig
  readonly #prepared: boolean
  readonly #leaveMetrics: () => void

  /**
   * Opens the pool; connections are made when they are first needed.
   * @throws Error when a URL asks for TLS in a way that does not exist, see `connectionTo`.
   */
  constructor(options: DatabaseOptions, makePool = (config: pg.PoolConfig): pg.Pool => new EnginePool(config)) {
    const { url, directUrl = url, trust, prepared = true } = options
    this.#prepared = prepared
    const { connectMs, lockMs, statementMs, answerMs } = options.timeouts ?? DEFAULT_TIMEOUTS
    const common = {
      application_name: options.applicationName,
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      pipeline: true,
    }
    this.pool = makePool({
      ...common,
      ...connectionTo({ url, trust }),
      max: options.poolSize ?? 6,
      idleTimeoutMillis: 60_000,
      lock_timeout: lockMs,
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      options: PLANNING,
    })
    // A broken connection is replaced on next use, and a transaction that holds it fails at its next statement. Without
    // the listeners (the pool's for idle connections, the client's own for those in use) the error event would end the
    // process.
    this.pool.on('error', () => {})
    this.pool.on('connect', (client) => client.on('error', () => {}))
    this.#directConfig = { ...common, ...connectionTo({ url: directUrl, trust }) }
    this.#leaveMetrics = reportPool(this.pool)
  }

  /** Runs one statement on the pool; it commits by itself. */
  async query<Row, Values extends readonly unknown[]>(
    statement: Statement<Row, Values>,
    ...values: Values
  ): Promise<Row[]> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await execute(this.pool, this.#prepared ? statement : unnamed(statement), values)
      } catch (error) {
        countDatabaseError(error)
        if (attempt >= this.#mostRepetitions(error)) throw error
      }
    }
  }

  /** Each connection that has prepared a statement before its columns changed is closed by the failure. */
  #mostRepetitions(error: unknown): number {
    return isStalePlan(error) ? this.pool.options.max : 0
  }

  /**
   * Runs `work` in one transaction and commits it when it resolves; any throw rolls everything back. The work is run
   * again after a serialization failure or deadlock, and when a migration has changed the columns of a statement, so it must
   * have no effect outside the database. After an
   * infrastructure failure during the commit it is unknown whether the commit happened.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const finished = transactionSeconds.startTimer()
      try {
        return await this.#attempt(work, options)
      } catch (error) {
        countDatabaseError(error)
        const most = isSerializationFailure(error) ? (options.retries ?? 3) : this.#mostRepetitions(error)
        if (attempt >= most) throw error
      } finally {
        finished()
      }
    }
  }

  async #attempt<T>(work: (tx: Tx) => Promise<T>, options: TransactionOptions): Promise<T> {
    const client = await this.pool.connect()
    const { tx, notices, causeOf, leave } = this.openTx(client)
    let broken = false
    try {
      sendTogether(client)
      // Not awaited, so that it costs no round trip: it fails only with its connection, as the work does then.
      const begun = client.query(options.isolation ? `begin isolation level ${options.isolation}` : 'begin')
      begun.catch(() => {})
      const result = await work(tx)
      await begun
      await leave()
      await client.query('commit')
      for (const notice of notices) notice()
      return result
    } catch (thrown) {
      const error = causeOf(thrown)
      await leave().catch(() => {})
      // After a statement without an answer, a rollback would hang too: closing the connection ends the transaction.
      if (isUnanswered(error) || isStalePlan(error)) broken = true
      else
        await client.query('rollback').catch(() => {
          broken = true
        })
      throw error
    } finally {
      client.release(broken)
    }
  }

  /**
   * A connection of its own, outside the pool, for LISTEN and session advisory locks. The caller must end it, also when
   * a query on it fails because no answer came (12 s).
   */
  direct(): Promise<pg.Client> {
    return openClient(this.#directConfig)
  }

  async ready(): Promise<void> {
    await this.pool.query('select 1')
  }

  async stop(): Promise<void> {
    this.#leaveMetrics()
    await this.pool.end()
  }

  /** For subclasses: the handle of a transaction on its connection. */
  protected openTx(client: pg.PoolClient): OpenTx {
    const notices: (() => void)[] = []
    const prepared = this.#prepared
    let failure: unknown
    let isOver = false
    const tx: Tx = {
      async query(statement, ...values) {
        if (isOver) throw new Error('The transaction is over; await every statement before its work ends')
        sendTogether(client)
        try {
          return await execute(client, prepared ? statement : unnamed(statement), values)
        } catch (error) {
          // Of statements that were started together, those after the failed one fail too, and may be reported first.
          if (!isTransactionAborted(error)) failure = error
          throw error
        }
      },
      afterCommit: (notice) => notices.push(notice),
    }
    const causeOf = (error: unknown) => (isTransactionAborted(error) ? (failure ?? error) : error)
    const leave = async () => {
      isOver = true
    }
    return { tx, notices, causeOf, leave }
  }
}

/** Statements that are started in the same turn of the event loop reach PostgreSQL in one packet, with one system call. */
function sendTogether(client: pg.ClientBase): void {
  if (!(client instanceof pg.Client)) return
  const { stream } = client.connection
  stream.cork()
  process.nextTick(() => stream.uncork())
}
