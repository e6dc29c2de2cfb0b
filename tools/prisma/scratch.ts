import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Migration, migrationsOf, runStatements } from '@restante/service/database'
import pg from 'pg'
import { sqlFromDatabaseToSchema } from './schema-engine.ts'

/** The PostgreSQL server for scratch databases: `DATABASE_URL`, or that of the local stack. */
export const server = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'

/** Checks and exclusions are not part of a Prisma schema, and the schema engine fails on them. */
const dropChecks = `do $$ declare it record; begin
  for it in select conrelid::regclass as owner, conname from pg_constraint where contype in ('c', 'x') and conrelid <> 0 loop
    execute format('alter table %s drop constraint %I', it.owner, it.conname);
  end loop;
end $$`

/**
 * Applies the migrations of a package to a temporary database, and returns the SQL that is missing for them to agree with
 * its schema.prisma: empty when they do. The tables of its libraries are no part of the schema.
 */
export function missingSql(folder: string): Promise<string> {
  return inScratchDatabase(async (url) => {
    const migrations = await migrationsOf(folder)
    await apply(
      url,
      migrations.filter(({ library }) => library !== undefined),
    )
    const external = await tablesOf(url)
    await apply(
      url,
      migrations.filter(({ library }) => library === undefined),
    )
    await execute(url, dropChecks)
    return sqlFromDatabaseToSchema(url, schemaOf(folder), external)
  })
}

/** Runs `work` on an empty database that exists only for it. */
export async function inScratchDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const name = `restante_scratch_${randomUUID().replaceAll('-', '')}`
  const client = await connect(server).catch((cause: unknown) => {
    throw new Error('no PostgreSQL for a scratch database: `npm run engines` starts one, or set DATABASE_URL', {
      cause,
    })
  })
  try {
    await client.query(`create database ${name}`)
    const url = new URL(server)
    url.pathname = `/${name}`
    return await work(url.href)
  } finally {
    await client.query(`drop database if exists ${name} with (force)`)
    await client.end()
  }
}

/** The file that describes the tables of a package's own. */
export function schemaOf(folder: string): string {
  return join(folder, 'prisma/schema.prisma')
}

/** Applies migrations to a database that has none of them, without a history. */
export async function apply(url: string, migrations: readonly Migration[]): Promise<void> {
  const client = await connect(url)
  try {
    for (const migration of migrations) await runStatements(client, migration)
  } finally {
    await client.end()
  }
}

async function tablesOf(url: string): Promise<string[]> {
  const client = await connect(url)
  try {
    const tables = `select schemaname || '.' || tablename as name from pg_tables where schemaname = 'public'`
    const { rows } = await client.query<{ name: string }>(tables)
    return rows.map((row) => row.name)
  } finally {
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
