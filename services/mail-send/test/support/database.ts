import { OrmDatabase } from '@restante/service/orm'
import type { Config } from '../../src/config.ts'
import { PrismaClient } from '../../src/generated/prisma/client.ts'

export type Db = OrmDatabase<PrismaClient>

/** Opens the service's database with Prisma, to look into its tables. */
export function openDatabase(config: Pick<Config, 'database'>): Db {
  return new OrmDatabase({
    ...config.database,
    applicationName: 'test',
    orm: (adapter) => new PrismaClient({ adapter }),
    begin: (client, work, limits) => client.$transaction(work, limits),
  })
}
