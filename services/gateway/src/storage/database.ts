import { type Queryable, sql } from '@restante/service'
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
 * What time it is for all processes. What is deleted for good because its time is over goes by this: a machine whose clock
 * is ahead would delete it too soon.
 */
export async function sharedTime(db: Queryable): Promise<Date> {
  const [row] = await db.query(NOW)
  if (row === undefined) throw new Error('the database returned no time')
  return row.now
}
