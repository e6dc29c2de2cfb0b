import { type Queryable, sql, type Tx } from '@restante/service/database'

/** An entry that every instance applies to its connections. */
export interface LogEntry {
  readonly position: string
  readonly kind:
    | 'event'
    | 'credential_ended'
    | 'inbox_deleted'
    | 'pod_deleted'
    | 'organization_deleted'
    | 'taken_over'
    | 'edge_leaves'
  readonly type: string | null
  readonly organization_id: string | null
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly credential_id: string | null
  readonly restricted: string[]
  readonly payload: string
}

/** An entry as the tail of the log reads it. */
export interface TailedEntry extends LogEntry {
  /** Since the event happened; null for an entry that is not an event. */
  readonly seconds: number | null
}

export type NewEntry = Omit<LogEntry, 'position'> & {
  readonly event_id: string
  readonly subject: string | null
  readonly happened_at: string | null
}

/** The members of an entry that is not an event, apart from its kind. */
export const NO_EVENT = {
  type: null,
  organization_id: null,
  pod_id: null,
  inbox_uid: null,
  credential_id: null,
  restricted: [],
  payload: '',
  subject: null,
  happened_at: null,
} satisfies Omit<NewEntry, 'event_id' | 'kind'>

/**
 * Positions are assigned before commits happen. Appending under one lock makes commits happen in the order of
 * positions, so that a reader that has seen position n has seen everything before n. Deletions of messages take it too:
 * an event and the deletion of its message are applied one after the other.
 */
const LOCK = 4_802_117_333
const LOCK_APPEND = sql<unknown, [lock: number]>('select pg_advisory_xact_lock($1)')

const INSERT_ENTRIES = sql<unknown, [entries: string]>(
  `insert into stream_log (event_id, kind, type, organization_id, pod_id, inbox_uid, credential_id, restricted, payload,
     subject, happened_at)
   select event_id, kind, type, organization_id, pod_id, inbox_uid, credential_id, restricted, payload, subject, happened_at
   from jsonb_to_recordset($1::jsonb) as entry(event_id uuid, kind text, type text, organization_id uuid, pod_id uuid,
     inbox_uid uuid, credential_id uuid, restricted text[], payload text, subject text, happened_at timestamptz)
   where not exists (select from deleted_messages gone
                     where gone.inbox_uid = entry.inbox_uid and gone.message_id = entry.subject
                       and gone.deleted_at >= entry.happened_at)
   on conflict (event_id, kind) do nothing`,
)

// The sizes are known without reading the documents, so that excess documents are not read at all.
const SELECT_AFTER = sql<TailedEntry, [position: string, limit: number, bytes: number]>(
  `select position::text, kind, type, organization_id, pod_id, inbox_uid, credential_id, restricted, payload,
          extract(epoch from now() - happened_at)::float8 as seconds
   from (select *, sum(octet_length(payload)) over (order by position) - octet_length(payload) as before
         from (select * from stream_log where position > $1 order by position limit $2) as next) as sized
   where before < $3 order by sized.position`,
)

// After a quiet day the log is empty, and still ends where it was swept: cursors from before that are not valid.
const SELECT_LAST = sql<{ position: string }>(
  `select greatest((select max(position) from stream_log), through)::text as position from stream_log_swept`,
)

/** Takes the lock of the log until the transaction ends. */
export async function lockLog(tx: Tx): Promise<void> {
  await tx.query(LOCK_APPEND, LOCK)
}

/**
 * Appends entries; an event that is stored already is left as it is, and one about a message that has been deleted since
 * is left out.
 */
export async function append(tx: Tx, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return
  await Promise.all([lockLog(tx), tx.query(INSERT_ENTRIES, JSON.stringify(entries))])
}

/** The next entries after a position, in order: at least one if there is any, and no more once `bytes` are reached. */
export function entriesAfter(db: Queryable, position: string, limit: number, bytes: number): Promise<TailedEntry[]> {
  return db.query(SELECT_AFTER, position, limit, bytes)
}

/** The last position of the log, whether its entry is still there or not. */
export async function lastPosition(db: Queryable): Promise<string> {
  const [row] = await db.query(SELECT_LAST)
  return row?.position ?? '0'
}
