import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { codeOf, isError } from '../../errors/error-codes.ts'
import { messageOf } from '../../errors/message-of.ts'
import type { Migration } from './migrations.ts'

/** First line of a migration whose statements run one by one, because PostgreSQL allows them in no transaction. */
const OUTSIDE = '-- outside a transaction'

const LOCK_NOT_AVAILABLE = '55P03'

export interface LockPatience {
  /**
   * How long a migration waits for a lock, in milliseconds. Every statement of the services on that table waits behind
   * it for as long.
   */
  readonly lockTimeoutMs: number
  /** Pause before it tries again, in which the services' statements run. */
  readonly pauseMs: number
  readonly attempts: number
}

const INSERT = `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
  values ($1, $2, $3, now(), clock_timestamp(), 1)`

/**
 * Applies one migration and records it in the history. A migration that does not get a lock in time is rolled back and
 * tried again: one that waited on would stop the service whose table it wants.
 * @throws Error that names the migration.
 */
export async function applyMigration(client: pg.Client, migration: Migration, patience: LockPatience): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await apply(client, migration, patience.lockTimeoutMs)
    } catch (error) {
      await client.query('rollback').catch(() => {})
      if (attempt >= patience.attempts || !isError(error) || codeOf(error) !== LOCK_NOT_AVAILABLE)
        throw new Error(`Migration ${migration.name} failed: ${messageOf(error)}`, { cause: error })
    }
    await sleep(patience.pauseMs)
  }
}

async function apply(client: pg.Client, migration: Migration, lockTimeoutMs: number): Promise<void> {
  const values = [randomUUID(), migration.checksum, migration.name]
  if (isOutsideTransaction(migration)) {
    // A crash before the record runs the statements again, so they are written to be repeated.
    await runStatements(client, migration)
    await client.query(INSERT, values)
    return
  }
  await client.query('begin')
  await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
  await client.query(migration.text)
  await client.query(INSERT, values)
  await client.query('commit')
}

/** Runs the statements of a migration, without a record. */
export async function runStatements(client: pg.Client, { text }: Pick<Migration, 'text'>): Promise<void> {
  // PostgreSQL runs several statements of one message as a transaction.
  const statements = isOutsideTransaction({ text }) ? text.split(/;[ \t]*$/m).filter(holdsStatement) : [text]
  for (const statement of statements) await client.query(statement)
}

/** Whether the statements of a migration run one by one. */
export function isOutsideTransaction({ text }: Pick<Migration, 'text'>): boolean {
  return text.startsWith(`${OUTSIDE}\n`)
}

function holdsStatement(text: string): boolean {
  return text.split('\n').some((line) => line.trim() !== '' && !line.startsWith('--'))
}
