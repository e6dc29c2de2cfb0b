import { type Queryable, sql } from '@restante/service/database'
import { OrmDatabase, type OrmOf, type OrmTx } from '@restante/service/orm'
import { PrismaClient } from '../generated/prisma/client.ts'

export type Db = OrmDatabase<PrismaClient>
/** Prisma inside a transaction. */
export type Orm = OrmOf<PrismaClient>
export type Tx = OrmTx<Orm>

export interface DatabaseLocation {
  readonly url: string
  readonly directUrl?: string | undefined
  readonly poolSize?: number | undefined
}

export function openDatabase(location: DatabaseLocation): Db {
  return new OrmDatabase({
    ...location,
    applicationName: 'gateway',
    orm: (adapter) => new PrismaClient({ adapter }),
    begin: (client, work, limits) => client.$transaction(work, limits),
  })
}

const NOW = sql<{ now: Date }>('select now() as now')

/**
 * The time of the database, which is the same for all processes. Rows that expire are deleted by this clock, because a
 * machine whose own clock is ahead would delete them too soon.
 */
export async function sharedTime(db: Queryable): Promise<Date> {
  const [row] = await db.query(NOW)
  if (row === undefined) throw new Error('the database returned no time')
  return row.now
}
