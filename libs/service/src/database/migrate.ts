import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { EngineTrust } from '../engines/index.ts'
import { messageOf } from '../errors/message-of.ts'
import { connectionTo, openClient } from './connection.ts'
import { type Migration, migrationsOf } from './migrations.ts'

export interface MigrateOptions {
  /** A URL that reaches PostgreSQL directly, not a transaction pooler: the lock belongs to the session. */
  readonly url: string
  /** The authorities that the server's certificate is accepted from, see `connectionTo`. */
  readonly trust?: EngineTrust | undefined
  /** The package that owns the database: a service, or a library with tables (see `migrationsOf`). */
  readonly folder: string
  readonly log?: (line: string) => void
}

/** Advisory lock: of two concurrent runs one applies the migrations, and the other waits and finds nothing to do. */
const LOCK = 7_263_981_025

const HISTORY = `create table if not exists _prisma_migrations (
  id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
  logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`

/**
 * Applies the migrations that a database does not have yet, each in a transaction of its own, in the order of
 * `migrationsOf`. Keeps Prisma's own history table, so that Prisma's tools understand the database.
 * @returns the names of the migrations applied by this call.
 * @throws Error when there are none, when the file of an applied migration was edited or removed, or when one fails.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = await openClient({ ...connectionTo(options), application_name: 'migrate' })
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await client.query('set client_min_messages = warning')
    await client.query(HISTORY)
    const known = await appliedMigrations(client)
    const migrations = await migrationsOf(options.folder)
    if (migrations.length === 0) throw new Error(`There are no migrations for ${options.folder}.`)
    refuseEditedHistory(known, migrations)
    const applied: string[] = []
    for (const migration of migrations.filter(({ name }) => !known.has(name))) {
      await apply(client, migration)
      options.log?.(`applied ${migration.name}`)
      applied.push(migration.name)
    }
    return applied
  } finally {
    await client.end()
  }
}

async function appliedMigrations(client: pg.Client): Promise<Map<string, string>> {
  const result = await client.query<{ migration_name: string; checksum: string }>(
    'select migration_name, checksum from _prisma_migrations where finished_at is not null and rolled_back_at is null',
  )
  return new Map(result.rows.map((row) => [row.migration_name, row.checksum]))
}

function refuseEditedHistory(known: Map<string, string>, migrations: Migration[]): void {
  const present = new Map(migrations.map(({ name, checksum }) => [name, checksum]))
  const libraries = new Set(migrations.map(({ library }) => library))
  for (const [name, checksum] of known) {
    // A library that the package no longer depends on leaves its tables behind, and its history with them.
    if (!libraries.has(libraryOf(name))) continue
    const now = present.get(name)
    if (now === undefined) throw new Error(`Migration ${name} was applied here but its file is gone. Restore the file.`)
    if (now !== checksum)
      throw new Error(`Migration ${name} was edited after it was applied. Restore it and add a new one.`)
  }
}

function libraryOf(migration: string): string | undefined {
  const end = migration.lastIndexOf('/')
  return end === -1 ? undefined : migration.slice(0, end)
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query('begin')
    await client.query(migration.text)
    await client.query(
      `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       values ($1, $2, $3, now(), now(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${migration.name} failed: ${messageOf(error)}`, {
      cause: error,
    })
  }
}
