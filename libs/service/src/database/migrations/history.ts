import type pg from 'pg'
import { type Migration, shortNameOf } from './migrations.ts'

const TABLE = `create table if not exists _prisma_migrations (
  id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
  logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`

/** Creates Prisma's own history table where there is none. @returns the checksums of the applied migrations, by name. */
export async function readHistory(client: pg.Client): Promise<Map<string, string>> {
  await client.query(TABLE)
  const result = await client.query<{ migration_name: string; checksum: string }>(
    'select migration_name, checksum from _prisma_migrations where finished_at is not null and rolled_back_at is null',
  )
  return new Map(result.rows.map((row) => [row.migration_name, row.checksum]))
}

/**
 * Compares the history of a database with the migrations of this release.
 * @returns the applied migrations that follow the newest one of this release. A later release applied them: releases
 * after this one change the schema only in ways that this one can work with, so that it may be brought back.
 * @throws Error when a migration was edited after it was applied, or when an applied one before the newest is gone.
 */
export function comparedWithHistory(known: ReadonlyMap<string, string>, migrations: readonly Migration[]): string[] {
  const present = new Map(migrations.map(({ name, checksum }) => [name, checksum]))
  const newest = newestByLibrary(migrations)
  const ahead: string[] = []
  for (const [name, checksum] of known) {
    const { library, shortName } = shortNameOf(name)
    const last = newest.get(library)
    // A library that the package no longer depends on leaves its tables behind, and its history with them.
    if (last === undefined) continue
    const now = present.get(name)
    if (now === checksum) continue
    if (now !== undefined)
      throw new Error(`Migration ${name} was edited after it was applied. Restore it and add a new one.`)
    if (shortName < last) throw new Error(`Migration ${name} was applied here but its file is gone. Restore the file.`)
    ahead.push(name)
  }
  return ahead.sort()
}

/** The short name of the newest migration of each library, and of the package itself under `undefined`. */
function newestByLibrary(migrations: readonly Migration[]): Map<string | undefined, string> {
  const newest = new Map<string | undefined, string>()
  for (const { name, library } of migrations) {
    const { shortName } = shortNameOf(name)
    const last = newest.get(library)
    if (last === undefined || shortName > last) newest.set(library, shortName)
  }
  return newest
}
