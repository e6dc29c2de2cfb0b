import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { EnginePool } from './access/connection.ts'

/** The connection of the transaction that the current call chain owns, if Prisma is to join one. */
const joined = new AsyncLocalStorage<pg.PoolClient>()

/** Runs `work` so that a Prisma transaction started inside it uses `client` instead of a connection of its own. */
export function joinConnection<T>(client: pg.PoolClient, work: () => T): T {
  return joined.run(client, work)
}

const TRANSACTION_CONTROL = /^\s*(BEGIN|COMMIT|ROLLBACK)\s*;?\s*$/i

/** A connection as Prisma sees it while it takes part in a transaction that is begun and ended elsewhere. */
function asGuest(client: pg.PoolClient): pg.PoolClient {
  return new Proxy(client, {
    get(target, property) {
      if (property === 'release') return () => {}
      if (property === 'query') return queryAsGuest.bind(undefined, target)
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function queryAsGuest(client: pg.PoolClient, query: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
  const text = typeof query === 'string' ? query : query.text
  if (TRANSACTION_CONTROL.test(text)) return { rows: [], fields: [], rowCount: 0, command: '', oid: 0 }
  return client.query(query, values)
}

/**
 * A pool for Prisma's adapter that hands out the joined connection when there is one. Prisma's `BEGIN`, `COMMIT` and
 * `ROLLBACK` are ignored there: the transaction belongs to `Database.transaction`, which alone ends it.
 */
export class JoinablePool extends EnginePool {
  override connect(): Promise<pg.PoolClient>
  override connect(
    callback: (err: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): void
  override connect(
    callback?: (err: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): Promise<pg.PoolClient> | undefined {
    if (callback) {
      super.connect(callback)
      return undefined
    }
    const client = joined.getStore()
    return client ? Promise.resolve(asGuest(client)) : super.connect()
  }
}
