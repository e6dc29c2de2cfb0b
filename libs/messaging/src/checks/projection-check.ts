import type { Check, CheckPage, Finding } from '@restante/contracts/internal'
import type { Database, Queryable, Tx } from '@restante/service/database'
import type { SnapshotPage } from '../consumer/projection.ts'

/** A row of a projection, as far as it is compared. */
export interface ProjectedRow {
  readonly id: string
  readonly version: number
  /** Whether the row says that the owner has deleted the entity. */
  readonly deleted: boolean
}

export interface ProjectionCheckOptions<Entity extends { readonly version: number }> {
  readonly db: Database
  /** The owner's entities after an id, in the order of their ids. */
  readonly snapshot: (after: string | undefined) => Promise<SnapshotPage<Entity>>
  readonly idOf: (entity: Entity) => string
  /** The first rows with ids after the first and up to the second one, by id, and at most so many. */
  readonly rows: (on: Queryable, after: string, through: string, most: number) => Promise<readonly ProjectedRow[]>
  /** Deletes a row if it has this version. */
  readonly drop: (tx: Tx, id: string, version: number) => Promise<void>
  /** Writes what the owner says, unless a newer version is known. */
  readonly apply: (tx: Tx, entity: Entity) => Promise<void>
}

const FIRST = '00000000-0000-0000-0000-000000000000'
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/** More rows than a page of any owner has. */
const MOST_ROWS = 1_000

/** How one entity differs. */
interface Difference<Entity> {
  readonly id: string
  readonly problem: string
  readonly row: ProjectedRow | undefined
  readonly entity: Entity | undefined
}

/**
 * Compares a projection with its owner, a page of the owner's snapshot at a time, and repairs what differs. Events and
 * reconciliation apply only newer versions; an owner whose database was put back from a backup counts them from where
 * the backup ended, and its projections would ignore it for as many changes as were lost. Here the owner is right
 * whatever its version.
 */
export function projectionCheck<Entity extends { readonly version: number }>(
  options: ProjectionCheckOptions<Entity>,
): Check {
  return async ({ after, repair }): Promise<CheckPage> => {
    const first = await compare(options, after, LAST)
    // What an event changed between the two readings differs once: only what differs twice is wrong.
    const second = first.differences.length > 0 ? await compare(options, after, first.next ?? LAST) : first
    const known = new Set(first.differences.map(keyOf))
    const differences = second.differences.filter((difference) => known.has(keyOf(difference)))
    if (repair) for (const difference of differences) await correct(options, difference)
    return {
      examined: second.examined,
      findings: differences.map(({ id, problem }): Finding => {
        return { subject: id, problem, state: repair ? 'repaired' : 'open' }
      }),
      ...(second.next !== undefined && { next: second.next }),
    }
  }
}

async function compare<Entity extends { readonly version: number }>(
  { db, snapshot, idOf, rows }: ProjectionCheckOptions<Entity>,
  after: string | undefined,
  through: string,
) {
  const page = await snapshot(after)
  const end = earlier(page.next ?? LAST, through)
  const found = await rows(db, after ?? FIRST, end, MOST_ROWS)
  // Where the owner has few entities among many rows, the page ends with the last row that was read.
  const reached = found.length < MOST_ROWS ? end : (found.at(-1)?.id ?? end)
  const byId = new Map(found.map((row) => [row.id, row]))
  const entities = page.entities.filter((entity) => idOf(entity) <= reached)
  const owned = new Set(entities.map(idOf))
  const differences: Difference<Entity>[] = []
  for (const entity of entities) {
    const row = byId.get(idOf(entity))
    const problem = problemOf(entity.version, row)
    if (problem !== undefined) differences.push({ id: idOf(entity), problem, row, entity })
  }
  for (const row of found) {
    if (row.deleted || owned.has(row.id)) continue
    differences.push({ id: row.id, problem: 'its owner does not have it', row, entity: undefined })
  }
  return { differences, examined: found.length, next: reached === LAST ? undefined : reached }
}

/** PostgreSQL orders uuids as their text in lower case is ordered. */
function earlier(one: string, other: string): string {
  return one < other ? one : other
}

function problemOf(version: number, row: ProjectedRow | undefined): string | undefined {
  if (row === undefined) return 'it is missing'
  if (row.deleted) return 'it is deleted here, and its owner has it'
  if (row.version === version) return undefined
  return `version ${row.version}, and its owner has version ${version}`
}

/** The row is dropped in the version that was compared: one that an event has changed since is left alone. */
async function correct<Entity extends { readonly version: number }>(
  { db, drop, apply }: ProjectionCheckOptions<Entity>,
  { id, row, entity }: Difference<Entity>,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (row) await drop(tx, id, row.version)
    if (entity) await apply(tx, entity)
  })
}

function keyOf({ id, problem }: Difference<unknown>): string {
  return `${id} ${problem}`
}
