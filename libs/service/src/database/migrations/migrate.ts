import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { EngineTrust } from '../../engines/index.ts'
import { connectionTo, openClient } from '../access/connection.ts'
import { comparedWithHistory, readHistory } from './history.ts'
import { migrationsOf } from './migrations.ts'
import { renewSessions } from './renew-sessions.ts'
import { applyMigration, type LockPatience } from './run-migration.ts'

export interface MigrateOptions {
  /** A URL that reaches PostgreSQL directly, not a transaction pooler: the lock belongs to the session. */
  readonly url: string
  /** The authorities that the server's certificate is accepted from, see `connectionTo`. */
  readonly trust?: EngineTrust | undefined
  /** The package that owns the database: a service, or a library with tables (see `migrationsOf`). */
  readonly folder: string
  readonly log?: (line: string) => void
  /** Default: see `PATIENCE`. */
  readonly patience?: LockPatience
}

/** Advisory lock: of two concurrent runs one applies the migrations, and the other waits and finds nothing to do. */
const LOCK = 7_263_981_025

const LOCK_AGAIN_MS = 100

/** About five minutes in all: longer than any statement of a service, shorter than a dump of a large database. */
const PATIENCE: LockPatience = { lockTimeoutMs: 2_000, pauseMs: 3_000, attempts: 60 }

/**
 * Applies the migrations that a database does not have yet, each in a transaction of its own, in the order of
 * `migrationsOf`, and renews the sessions of running services (see `renewSessions`). Keeps Prisma's own history table, so that
 * Prisma's tools understand the database. A database that a later release has migrated is left as it is (see
 * `comparedWithHistory`).
 * @returns the names of the migrations applied by this call.
 * @throws Error when there are none, when the file of an applied migration was edited or removed, or when one fails.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = await openClient({ ...connectionTo(options), application_name: 'migrate' })
  try {
    await takeLock(client)
    await client.query('set client_min_messages = warning')
    const known = await readHistory(client)
    const migrations = await migrationsOf(options.folder)
    if (migrations.length === 0) throw new Error(`There are no migrations for ${options.folder}.`)
    const ahead = comparedWithHistory(known, migrations)
    if (ahead.length > 0) options.log?.(`the database is ahead of this release by ${ahead.join(', ')}`)
    // Those that an earlier run did not come to.
    await renewSessions(client)
    const applied: string[] = []
    for (const migration of migrations.filter(({ name }) => !known.has(name))) {
      await applyMigration(client, migration, options.patience ?? PATIENCE)
      // At once: the next migration may take long.
      await renewSessions(client)
      options.log?.(`applied ${migration.name}`)
      applied.push(migration.name)
    }
    return applied
  } finally {
    await client.end()
  }
}

/**
 * Asks again and again instead of waiting in one statement: `create index concurrently` waits for every statement that
 * is running, and would wait for the process that waits for it.
 */
async function takeLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [LOCK])
    if (rows[0]?.taken) return
    await sleep(LOCK_AGAIN_MS)
  }
}
