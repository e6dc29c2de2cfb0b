import { Database, type OrmOf, type Tx as Transaction } from '@restante/service'
import type { Config } from './config.ts'
import { PrismaClient } from './generated/prisma/client.ts'

export type Db = Database<PrismaClient>
export type Tx = Transaction<OrmOf<PrismaClient>>

export function openDatabase(config: Config): Db {
  return Database.open({
    ...config.database,
    applicationName: 'mail-ingest',
    orm: (adapter) => new PrismaClient({ adapter }),
    begin: (client, work, limits) => client.$transaction(work, limits),
  })
}
