import { type Queryable, sql, type Tx } from '@restante/service/database'

/** An entry that every instance applies to its connections. */
export interface LogEntry {
  readonly position: string
  readonly kind: 'event' | 'credential_ended' | 'inbox_deleted' | 'pod_deleted' | 'organization_deleted' | 'edge_leaves'
  readonly type: string | null
  readonly organization_id: string | null
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly credential_id: string | null
  readonly restricted: string[]
  readonly payload: string
}

export type NewEntry = Omit<LogEntry, 'position'> & { readonly event_id: string }

/**
 * Positions are assigned before commits happen. Appending under one lock makes commits happen in the order of
 * positions, so that a reader that has seen position n has seen everything before n.
 */
const LOCK = 4_802_117_333
const LOCK_APPEND = sql<unknown, [lock: number]>('select pg_advisory_xact_lock($1)')

const INSERT_ENTRIES = sql<unknown, [entries: string]>(
  `insert into stream_log (event_id, kind, type, organization_id, pod_id, inbox_uid, credential_id, restricted, payload)
   select event_id, kind, type, organization_id, pod_id, inbox_uid, credential_id, restricted, payload
   from jsonb_to_recordset($1::jsonb) as entry(event_id uuid, kind text, type text, organization_id uuid, pod_id uuid,
     inbox_uid uuid, credential_id uuid, restricted text[], payload text)
   on conflict (event_id, kind) do nothing`,
)

// The sizes are known without reading the documents, so that excess documents are not read at all.
const SELECT_AFTER = sql<LogEntry, [position: string, limit: number, bytes: number]>(
  `select position::text, kind, type, organization_id, pod_id, inbox_uid, credential_id, restricted, payload
   from (select *, sum(octet_length(payload)) over (order by position) - octet_length(payload) as before
         from (select * from stream_log where position > $1 order by position limit $2) as next) as sized
   where before < $3 order by sized.position`,
)

const SELECT_LAST = sql<{ position: string }>(`select coalesce(max(position), 0)::text as position from stream_log`)

const DELETE_OLD = sql<{ deleted: number }, [olderThan: Date, limit: number]>(
  `with gone as (
     delete from stream_log where position in (
       select position from stream_log where created_at < $1 order by created_at limit $2) returning 1)
   select count(*)::int as deleted from gone`,
)

/** Appends entries; an event that is stored already is left as it is. */
export async function append(tx: Tx, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return
  await Promise.all([tx.query(LOCK_APPEND, LOCK), tx.query(INSERT_ENTRIES, JSON.stringify(entries))])
}

/** The next entries after a position, in order: at least one if there is any, and no more once `bytes` are reached. */
export function entriesAfter(db: Queryable, position: string, limit: number, bytes: number): Promise<LogEntry[]> {
  return db.query(SELECT_AFTER, position, limit, bytes)
}

/** The last position of the log. */
export async function lastPosition(db: Queryable): Promise<string> {
  const [row] = await db.query(SELECT_LAST)
  return row?.position ?? '0'
}

/** Deletes at most `limit` entries older than the given time. @returns how many. */
export async function deleteEntriesBefore(db: Queryable, time: Date, limit: number): Promise<number> {
  const [row] = await db.query(DELETE_OLD, time, limit)
  return row?.deleted ?? 0
}
