import { Database, type OrmOf, type Tx as Transaction } from '@restante/service'
import { PrismaClient } from './generated/prisma/client.ts'

export type Db = Database<PrismaClient>
/** Prisma inside a transaction. */
export type Orm = OrmOf<PrismaClient>
export type Tx = Transaction<Orm>

export interface DatabaseLocation {
  readonly url: string
  readonly directUrl?: string | undefined
  readonly poolSize?: number | undefined
}

export function openDatabase(location: DatabaseLocation): Db {
  return Database.open({
    ...location,
    applicationName: 'gateway',
    orm: (adapter) => new PrismaClient({ adapter }),
    begin: (client, work, limits) => client.$transaction(work, limits),
  })
}
