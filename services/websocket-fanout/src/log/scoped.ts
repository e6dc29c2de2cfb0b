import { type Queryable, sql } from '@restante/service/database'
import type { LogEntry } from './store.ts'

/** A part of an organization's events: all of them, or those of these pods and inboxes. */
export interface ReadScope {
  readonly organizationId: string
  readonly whole: boolean
  readonly podIds: readonly string[]
  readonly inboxUids: readonly string[]
}

/** An event of the log without its document. */
export interface EventHead extends Pick<LogEntry, 'position' | 'type' | 'pod_id' | 'inbox_uid' | 'restricted'> {
  /** Of the document. */
  readonly bytes: number
}

type Range = [after: string, through: string, limit: number]

const HEAD = `organization_id, position, type, pod_id, inbox_uid, restricted, octet_length(payload) as bytes`
const IN_RANGE = `kind = 'event' and position > $2 and position <= $3`
/** Events of inboxes and pods that were deleted since are left out (events 5: nothing of them is shown any more). */
const EXISTING = `
  not exists (select from stream_log gone where gone.kind = 'inbox_deleted' and gone.inbox_uid = found.inbox_uid)
  and not exists (select from stream_log gone where gone.kind = 'pod_deleted' and gone.pod_id = found.pod_id)`
const SHOWN = `found.position::text as position, found.type, found.pod_id, found.inbox_uid, found.restricted, found.bytes,
  ${EXISTING} as exists`

type Found = EventHead & { readonly exists: boolean }

const IN_ORGANIZATION = sql<Found, [organizationId: string, ...Range]>(
  `select ${SHOWN} from (
     select ${HEAD} from stream_log where organization_id = $1 and ${IN_RANGE} order by position limit $4) as found
   order by found.position`,
)

// One index per kind of scope, and in each no more than one page per id: an event that lies in several is found once.
// Inside, only the id and the range decide, so that nothing invites the planner to read the whole organization.
const IN_SCOPES = sql<
  Found,
  [organizationId: string, ...Range, podIds: readonly string[], inboxUids: readonly string[]]
>(
  `select ${SHOWN} from (
     select distinct on (position) * from (
       select own.* from unnest($5::uuid[]) as named(id) cross join lateral (
         select ${HEAD} from stream_log where pod_id = named.id and ${IN_RANGE} order by position limit $4) as own
       union all
       select own.* from unnest($6::uuid[]) as named(id) cross join lateral (
         select ${HEAD} from stream_log where inbox_uid = named.id and ${IN_RANGE} order by position limit $4) as own
     ) as each_scope where organization_id = $1 order by position limit $4) as found
   order by found.position`,
)

/** What a read of a part of the log found. */
export interface Heads {
  readonly events: readonly EventHead[]
  /** Everything up to this position was read. */
  readonly through: bigint
}

/** The next events of a scope after a position and up to another, in order; it reads at most `limit` of them. */
export async function headsAfter(
  db: Queryable,
  scope: ReadScope,
  range: { readonly after: bigint; readonly through: bigint },
  limit: number,
): Promise<Heads> {
  const values = [scope.organizationId, String(range.after), String(range.through), limit] as const
  const found = scope.whole
    ? await db.query(IN_ORGANIZATION, ...values)
    : await db.query(IN_SCOPES, ...values, scope.podIds, scope.inboxUids)
  const last = found.at(-1)
  const isCut = last !== undefined && found.length === limit
  return { events: found.filter(({ exists }) => exists), through: isCut ? BigInt(last.position) : range.through }
}

const DOCUMENTS = sql<Pick<LogEntry, 'position' | 'payload'>, [positions: readonly string[]]>(
  `select position::text, payload from stream_log where position = any($1::bigint[]) order by stream_log.position`,
)

/** The documents of events, in order; those that have left the log are missing. */
export function documentsAt(
  db: Queryable,
  positions: readonly string[],
): Promise<Pick<LogEntry, 'position' | 'payload'>[]> {
  return db.query(DOCUMENTS, positions)
}

// The last position that was ever given: its entry may have left the log.
const EXTENT = sql<{ through: string; last: string }>(
  `select through::text, last_value::text as last from stream_log_swept, stream_log_position_seq`,
)

/** The positions between which the log is complete: after `through`, up to `last`. */
export async function extentOf(db: Queryable): Promise<{ readonly through: bigint; readonly last: bigint }> {
  const [row] = await db.query(EXTENT)
  return { through: BigInt(row?.through ?? 0), last: BigInt(row?.last ?? 0) }
}
