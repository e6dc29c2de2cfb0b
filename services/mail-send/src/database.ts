import { type Tx as AnyTx, Database, type OrmOf } from '@restante/service'
import type { Config } from './config.ts'
import { PrismaClient } from './generated/prisma/client.ts'

export type Db = Database<PrismaClient>
export type Orm = OrmOf<PrismaClient>
export type Tx = AnyTx<Orm>

/** The database of this service; nobody else reads it. */
export function openDatabase(config: Pick<Config, 'database'>): Db {
  return Database.open({
    ...config.database,
    applicationName: 'mail-send',
    orm: (adapter) => new PrismaClient({ adapter }),
    begin: (client, work, limits) => client.$transaction(work, limits),
  })
}
