import { Database, type OrmOf, type Tx as ServiceTx } from '@restante/service'
import type { Config } from './config.ts'
import { PrismaClient } from './generated/prisma/client.ts'

export type Db = Database<PrismaClient>
export type Orm = OrmOf<PrismaClient>
export type Tx = ServiceTx<Orm>

export function openDatabase(config: Pick<Config, 'database'>): Db {
  return Database.open({
    ...config.database,
    applicationName: 'websocket-fanout',
    orm: (adapter) => new PrismaClient({ adapter }),
    begin: (client, work, limits) => client.$transaction(work, limits),
  })
}
