import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { migrate } from '@restante/service'
import pg from 'pg'
import { sqlFromDatabaseToSchema } from './schema-engine.ts'

/** A service's prisma folder: schema.prisma and migrations/. */
export interface PrismaFolder {
  readonly schema: string
  readonly migrations: string
}

export function prismaFolder(packageFolder: string): PrismaFolder {
  const folder = join(packageFolder, 'prisma')
  return { schema: join(folder, 'schema.prisma'), migrations: join(folder, 'migrations') }
}

/** The PostgreSQL server for scratch databases: `DATABASE_URL`, or that of the local stack. */
export const server = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'

/** Checks and exclusions are not part of a Prisma schema, and the schema engine fails on them. */
const dropChecks = `do $$ declare it record; begin
  for it in select conrelid::regclass as owner, conname from pg_constraint where contype in ('c', 'x') and conrelid <> 0 loop
    execute format('alter table %s drop constraint %I', it.owner, it.conname);
  end loop;
end $$`

/**
 * Applies the migrations to a temporary database, and returns the SQL that is missing for them to agree with
 * schema.prisma: empty when they do.
 */
export async function missingSql(folder: PrismaFolder): Promise<string> {
  const name = `restante_scratch_${randomUUID().replaceAll('-', '')}`
  const client = await connect(server)
  try {
    await client.query(`create database ${name}`)
    const url = new URL(server)
    url.pathname = `/${name}`
    await migrate({ url: url.href, directory: folder.migrations })
    await execute(url.href, dropChecks)
    return await sqlFromDatabaseToSchema(url.href, folder.schema)
  } finally {
    await client.query(`drop database if exists ${name} with (force)`)
    await client.end()
  }
}

async function execute(url: string, statement: string): Promise<void> {
  const client = await connect(url)
  await client.query(statement).finally(() => client.end())
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'restante-tools' })
  await client.connect()
  return client
}
