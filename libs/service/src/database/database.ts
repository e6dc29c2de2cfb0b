import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import pg from 'pg'
import type { Component } from '../process/component.ts'
import { isSerializationFailure, isUnanswered } from './errors.ts'
import { JoinablePool, joinConnection } from './shared-connection.ts'
import { execute, type Queryable, type Statement } from './statement.ts'

/** What is asked of every generated Prisma client. */
export interface OrmClient {
  $disconnect(): Promise<void>
}

/** What Prisma leaves of its client inside a transaction. */
export type OrmOf<Client extends OrmClient> = Omit<
  Client,
  '$connect' | '$disconnect' | '$on' | '$use' | '$extends' | '$transaction'
>

/** Limits of an interactive Prisma transaction, in milliseconds. */
export interface OrmLimits {
  readonly maxWait: number
  readonly timeout: number
}

/**
 * One open transaction. Prepared statements (`query`) and Prisma code (`orm()`) share its connection, so whatever is
 * written through either commits together, the outbox rows included.
 */
export interface Tx<Orm = unknown> extends Queryable {
  /** The Prisma client of this transaction; joined on first use, so that transactions without it do not pay for it. */
  orm(): Promise<Orm>
  /** Runs `notice` once the commit is durable; never after a rollback. It must not throw. */
  afterCommit(notice: () => void): void
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

export interface DatabaseOptions<Client extends OrmClient> {
  readonly url: string
  /** A URL that reaches PostgreSQL itself when `url` goes through a transaction pooler; default: `url`. */
  readonly directUrl?: string | undefined
  /** Connections of this process. Default 6. */
  readonly poolSize?: number | undefined
  readonly applicationName: string
  /** Default 5, 8, 10 and 12 s. */
  readonly patience?: Patience | undefined
  /** Makes the service's Prisma client over this database's pool. */
  readonly orm: (adapter: SqlDriverAdapterFactory) => Client
  /** `(client, work, limits) => client.$transaction(work, limits)`: how that client opens a transaction. */
  readonly begin: (client: Client, work: (orm: OrmOf<Client>) => Promise<void>, limits: OrmLimits) => Promise<void>
}

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
  /** How often a serialization failure or deadlock is run again. Default 3. */
  readonly retries?: number
}

const PATIENCE: Patience = { connectMs: 5_000, lockMs: 8_000, statementMs: 10_000, answerMs: 12_000 }
/** A transaction's connection is taken back when it idles this long: a stuck body must not hold locks for ever. */
const IDLE_IN_TRANSACTION_MS = 20_000
const ORM_LIMITS: OrmLimits = { maxWait: 10_000, timeout: 60_000 }

/** One service's database: its pool, its Prisma client, and the only way to open a transaction. */
export class Database<Client extends OrmClient = OrmClient> implements Queryable, Component {
  readonly name = 'database'
  /** Prisma on the pool; each call commits by itself. */
  readonly orm: Client
  readonly #pool: JoinablePool
  readonly #directConfig: pg.ClientConfig
  readonly #begin: (work: (orm: OrmOf<Client>) => Promise<void>) => Promise<void>

  private constructor(options: DatabaseOptions<Client>) {
    const { connectMs, lockMs, statementMs, answerMs } = options.patience ?? PATIENCE
    const common = {
      application_name: options.applicationName,
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    }
    this.#pool = new JoinablePool({
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
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => client.on('error', () => {}))
    this.#directConfig = { ...common, connectionString: options.directUrl ?? options.url }
    this.orm = options.orm(new PrismaPg(this.#pool))
    this.#begin = (work) => options.begin(this.orm, work, ORM_LIMITS)
  }

  /** Opens the pool; connections are made when they are first needed. */
  static open<C extends OrmClient>(options: DatabaseOptions<C>): Database<C> {
    return new Database(options)
  }

  /** Runs one prepared statement on the pool; it commits by itself. */
  query<Row, Values extends readonly unknown[]>(statement: Statement<Row, Values>, ...values: Values): Promise<Row[]> {
    return execute(this.#pool, statement, values)
  }

  /**
   * Runs `work` in one transaction and commits it when it resolves; any throw rolls everything back. Runs again on a
   * serialization failure or deadlock, so `work` must have no effect outside the database. After a
   * failure of the infrastructure around the commit it is not known whether it happened.
   */
  async transaction<T>(work: (tx: Tx<OrmOf<Client>>) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(work, options)
      } catch (error) {
        if (attempt >= (options.retries ?? 3) || !isSerializationFailure(error)) throw error
      }
    }
  }

  async #attempt<T>(work: (tx: Tx<OrmOf<Client>>) => Promise<T>, options: TransactionOptions): Promise<T> {
    const client = await this.#pool.connect()
    const session = new OrmSession(this.#begin, client)
    const notices: (() => void)[] = []
    let broken = false
    try {
      await client.query(options.isolation ? `begin isolation level ${options.isolation}` : 'begin')
      const result = await work({
        query: (statement, ...values) => execute(client, statement, values),
        orm: () => session.join(),
        afterCommit: (notice) => notices.push(notice),
      })
      await session.leave()
      await client.query('commit')
      for (const notice of notices) notice()
      return result
    } catch (error) {
      await session.leave().catch(() => {})
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
    await this.#pool.query('select 1')
  }

  async stop(): Promise<void> {
    await this.orm.$disconnect()
    await this.#pool.end()
  }
}

/** Prisma's part in one transaction: an interactive transaction held open on the same connection until the end. */
class OrmSession<Orm> {
  readonly #begin: (work: (orm: Orm) => Promise<void>) => Promise<void>
  readonly #connection: pg.PoolClient
  #joining: Promise<Orm> | undefined
  #finish: () => void = () => {}
  #finished: Promise<void> = Promise.resolve()

  constructor(begin: (work: (orm: Orm) => Promise<void>) => Promise<void>, connection: pg.PoolClient) {
    this.#begin = begin
    this.#connection = connection
  }

  join(): Promise<Orm> {
    this.#joining ??= new Promise((resolve, reject) => {
      const held = new Promise<void>((finish) => {
        this.#finish = finish
      })
      this.#finished = joinConnection(this.#connection, () =>
        this.#begin((orm) => {
          resolve(orm)
          return held
        }),
      )
      this.#finished.catch(reject)
    })
    return this.#joining
  }

  async leave(): Promise<void> {
    this.#finish()
    await this.#finished
  }
}
