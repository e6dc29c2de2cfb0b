import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import type pg from 'pg'
import { Database, type DatabaseOptions, type OpenTx, type TransactionOptions, type Tx } from './database.ts'
import { JoinablePool, joinConnection } from './shared-connection.ts'

/** The part of a generated Prisma client that the database needs. */
export interface OrmClient {
  $disconnect(): Promise<void>
}

/** The part of a Prisma client that is available inside a transaction. */
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
 * One open transaction of an `OrmDatabase`. Prepared statements (`query`) and Prisma code (`orm()`) share its connection,
 * so whatever is written through either commits together.
 */
export interface OrmTx<Orm> extends Tx {
  /** The Prisma client of this transaction; joined on first use, so that transactions without it do not pay for it. */
  orm(): Promise<Orm>
}

export interface OrmDatabaseOptions<Client extends OrmClient> extends DatabaseOptions {
  /** Makes the service's Prisma client over this database's pool. */
  readonly orm: (adapter: SqlDriverAdapterFactory) => Client
  /** `(client, work, limits) => client.$transaction(work, limits)`: how that client opens a transaction. */
  readonly begin: (client: Client, work: (orm: OrmOf<Client>) => Promise<void>, limits: OrmLimits) => Promise<void>
}

const ORM_LIMITS: OrmLimits = { maxWait: 10_000, timeout: 60_000 }

/** A `Database` whose transactions Prisma can join. */
export class OrmDatabase<Client extends OrmClient> extends Database {
  /** Prisma on the pool; each call commits by itself. */
  readonly orm: Client
  readonly #begin: (work: (orm: OrmOf<Client>) => Promise<void>) => Promise<void>
  readonly #open = new WeakMap<Tx, OrmTx<OrmOf<Client>>>()

  constructor(options: OrmDatabaseOptions<Client>) {
    super(options, (config) => new JoinablePool(config))
    this.orm = options.orm(new PrismaPg(this.pool))
    this.#begin = (work) => options.begin(this.orm, work, ORM_LIMITS)
  }

  /** As `Database.transaction`, with Prisma. */
  override transaction<T>(
    work: (tx: OrmTx<OrmOf<Client>>) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return super.transaction((tx) => work(this.withOrm(tx)), options)
  }

  /**
   * The same transaction with Prisma: for code that gets a `Tx` from a library, such as the effect of a timer.
   * @throws Error when `tx` is no transaction of this database.
   */
  withOrm(tx: Tx): OrmTx<OrmOf<Client>> {
    const joined = this.#open.get(tx)
    if (!joined) throw new Error('This is not a transaction of this database.')
    return joined
  }

  override async stop(): Promise<void> {
    await this.orm.$disconnect()
    await super.stop()
  }

  protected override openTx(client: pg.PoolClient): OpenTx {
    const session = new OrmSession(this.#begin, client)
    const opened = super.openTx(client)
    const tx = { ...opened.tx, orm: () => session.join() }
    this.#open.set(tx, tx)
    const leave = async () => {
      await opened.leave()
      await session.leave()
    }
    return { ...opened, tx, leave }
  }
}

/** Prisma's side of one transaction: an interactive transaction held open on the same connection until the end. */
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
