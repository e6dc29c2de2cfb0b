import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'

export interface MigrateOptions {
  /** A URL that reaches PostgreSQL directly, not a transaction pooler: the lock belongs to the session. */
  readonly url: string
  /** A `prisma/migrations` directory: `<timestamp>_<name>/migration.sql`. */
  readonly directory: string
  readonly log?: (line: string) => void
}

/** Advisory lock: of two concurrent runs one applies the migrations, and the other waits and finds nothing to do. */
const LOCK = 7_263_981_025

const HISTORY = `create table if not exists _prisma_migrations (
  id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
  logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`

/**
 * Applies the migrations that a database does not have yet, each in a transaction of its own, in the order of their
 * names. Keeps Prisma's own history table, so that Prisma's tools understand the database.
 * @returns the names of the migrations applied by this call.
 * @throws Error when the file of an applied migration was edited or removed, or when a migration fails.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({ connectionString: options.url, application_name: 'migrate' })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await client.query('set client_min_messages = warning')
    await client.query(HISTORY)
    const known = await appliedMigrations(client)
    const files = await migrationFiles(options.directory)
    refuseEditedHistory(known, files)
    const applied: string[] = []
    for (const file of files.filter((file) => !known.has(file.name))) {
      await apply(client, file)
      options.log?.(`applied ${file.name}`)
      applied.push(file.name)
    }
    return applied
  } finally {
    await client.end()
  }
}

interface MigrationFile {
  readonly name: string
  readonly text: string
  readonly checksum: string
}

async function migrationFiles(directory: string): Promise<MigrationFile[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const text = await readFile(path.join(directory, name, 'migration.sql'), 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

async function appliedMigrations(client: pg.Client): Promise<Map<string, string>> {
  const result = await client.query<{ migration_name: string; checksum: string }>(
    'select migration_name, checksum from _prisma_migrations where finished_at is not null and rolled_back_at is null',
  )
  return new Map(result.rows.map((row) => [row.migration_name, row.checksum]))
}

function refuseEditedHistory(known: Map<string, string>, files: MigrationFile[]): void {
  const present = new Map(files.map((file) => [file.name, file.checksum]))
  for (const [name, checksum] of known) {
    const now = present.get(name)
    if (now === undefined) throw new Error(`Migration ${name} was applied here but its file is gone. Restore the file.`)
    if (now !== checksum)
      throw new Error(`Migration ${name} was edited after it was applied. Restore it and add a new one.`)
  }
}

async function apply(client: pg.Client, file: MigrationFile): Promise<void> {
  try {
    await client.query('begin')
    await client.query(file.text)
    await client.query(
      `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       values ($1, $2, $3, now(), now(), 1)`,
      [randomUUID(), file.checksum, file.name],
    )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${file.name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
