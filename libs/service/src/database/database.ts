import pg from 'pg'
import type { Component } from '../process/component.ts'
import { isSerializationFailure, isUnanswered } from './errors.ts'
import { execute, type Queryable, type Statement } from './statement.ts'

/** One open transaction: whatever is written through it commits together, the outbox rows included. */
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
  /** Called before the commit and before the rollback: ends what else uses the connection. */
  leave(): Promise<void>
}

/**
 * How long is waited for what, in milliseconds: a server that hangs must not make us hang with it. Each of these ends as
 * a failure of the infrastructure. The server gives up first, so that a statement which is merely slow says so itself
 * and leaves its connection usable.
 */
export interface Patience {
  /** For a connection, made anew or free again. */
  readonly connectMs: number
  /** For a lock. */
  readonly lockMs: number
  /** The server's, for a statement. */
  readonly statementMs: number
  /** Ours, for the answer to it. */
  readonly answerMs: number
}

export interface DatabaseOptions {
  readonly url: string
  /** A URL that reaches PostgreSQL itself when `url` goes through a transaction pooler; default: `url`. */
  readonly directUrl?: string | undefined
  /** Connections of this process. Default 6. */
  readonly poolSize?: number | undefined
  readonly applicationName: string
  /** Default 5, 8, 10 and 12 s. */
  readonly patience?: Patience | undefined
}

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
  /** How often a serialization failure or deadlock is run again. Default 3. */
  readonly retries?: number
}

const PATIENCE: Patience = { connectMs: 5_000, lockMs: 8_000, statementMs: 10_000, answerMs: 12_000 }
/** A transaction's connection is taken back when it idles this long: a stuck body must not hold locks for ever. */
const IDLE_IN_TRANSACTION_MS = 20_000

/** One service's database: its pool, and the only way to open a transaction. */
export class Database implements Transactional, Component {
  readonly name = 'database'
  protected readonly pool: pg.Pool
  readonly #directConfig: pg.ClientConfig

  /** Opens the pool; connections are made when they are first needed. */
  constructor(options: DatabaseOptions, makePool = (config: pg.PoolConfig): pg.Pool => new pg.Pool(config)) {
    const { connectMs, lockMs, statementMs, answerMs } = options.patience ?? PATIENCE
    const common = {
      application_name: options.applicationName,
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    }
    this.pool = makePool({
      ...common,
      connectionString: options.url,
      max: options.poolSize ?? 6,
      idleTimeoutMillis: 60_000,
      lock_timeout: lockMs,
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    })
    // A broken connection is replaced on next use, and a transaction that holds it fails at its next statement; without
    // listeners (the pool's for idle ones, the client's own for those in use) it would end the process.
    this.pool.on('error', () => {})
    this.pool.on('connect', (client) => client.on('error', () => {}))
    this.#directConfig = { ...common, connectionString: options.directUrl ?? options.url }
  }

  /** Runs one prepared statement on the pool; it commits by itself. */
  query<Row, Values extends readonly unknown[]>(statement: Statement<Row, Values>, ...values: Values): Promise<Row[]> {
    return execute(this.pool, statement, values)
  }

  /**
   * Runs `work` in one transaction and commits it when it resolves; any throw rolls everything back. Runs again on a
   * serialization failure or deadlock, so `work` must have no effect outside the database. After a
   * failure of the infrastructure around the commit it is not known whether it happened.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(work, options)
      } catch (error) {
        if (attempt >= (options.retries ?? 3) || !isSerializationFailure(error)) throw error
      }
    }
  }

  async #attempt<T>(work: (tx: Tx) => Promise<T>, options: TransactionOptions): Promise<T> {
    const client = await this.pool.connect()
    const { tx, notices, leave } = this.openTx(client)
    let broken = false
    try {
      await client.query(options.isolation ? `begin isolation level ${options.isolation}` : 'begin')
      const result = await work(tx)
      await leave()
      await client.query('commit')
      for (const notice of notices) notice()
      return result
    } catch (error) {
      await leave().catch(() => {})
      // Behind a statement that is not answered, a rollback would wait too: the connection goes, and with it the work.
      if (isUnanswered(error)) broken = true
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
   * A connection of its own, outside the pool, for LISTEN and session advisory locks. The caller ends it, also when a
   * query on it fails for want of an answer (12 s).
   */
  async direct(): Promise<pg.Client> {
    const client = new pg.Client(this.#directConfig)
    // Loss of the connection reaches its owner through `end` and failing queries.
    client.on('error', () => {})
    await client.connect()
    return client
  }

  async ready(): Promise<void> {
    await this.pool.query('select 1')
  }

  async stop(): Promise<void> {
    await this.pool.end()
  }

  /** For subclasses: the handle of a transaction on its connection. */
  protected openTx(client: pg.PoolClient): OpenTx {
    const notices: (() => void)[] = []
    const tx: Tx = {
      query: (statement, ...values) => execute(client, statement, values),
      afterCommit: (notice) => notices.push(notice),
    }
    return { tx, notices, leave: async () => {} }
  }
}
