import type { SendStatus } from '@restante/contracts/resources'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeysetPage } from '@restante/service/http'
import type { ScopeFilter } from '@restante/service/identity'

export const DRAFT_KINDS = ['new', 'reply', 'forward'] as const
export type DraftKind = (typeof DRAFT_KINDS)[number]

/** A draft without its bodies, as lists show it. */
export interface DraftItemRow {
  readonly id: string
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly inbox_address: string
  readonly kind: DraftKind
  readonly source_id: string | null
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly subject: string | null
  readonly preview: string | null
  /** With `draft`, and `scheduled` where there is a time. */
  readonly labels: readonly string[]
  readonly send_at: Date | null
  readonly send_status: SendStatus | null
  readonly version: number
  readonly size: number
  readonly created_at: Date
  readonly updated_at: Date
}

export interface DraftRow extends DraftItemRow {
  /** Read by the release before, which derives recipients when it sends. */
  readonly reply_all: boolean
  readonly references: readonly string[]
  readonly reply_to: readonly string[]
  readonly text: string | null
  readonly html: string | null
  readonly sending_since: Date | null
  readonly client_id: string | null
  /** Number of take-overs of the organization when it was created (identity 5.1). */
  readonly take_overs: number
}

/** What identifies a draft and its last state in events. */
export type DraftIdentity = Pick<DraftRow, 'id' | 'organization_id' | 'pod_id' | 'inbox_uid' | 'version' | 'size'>

/** What a change of a draft can set. */
export type DraftContent = Pick<
  DraftRow,
  | 'to'
  | 'cc'
  | 'bcc'
  | 'reply_to'
  | 'subject'
  | 'text'
  | 'html'
  | 'preview'
  | 'labels'
  | 'send_at'
  | 'send_status'
  | 'size'
>

const ITEM = `id, organization_id, pod_id, inbox_uid, inbox_address, kind, source_id, "to", cc, bcc, subject, preview, labels,
  send_at, send_status, version, size, created_at, updated_at`
const ALL = `${ITEM}, reply_all, "references", reply_to, text, html, sending_since, client_id, take_overs`

const INSERT = sql<DraftRow, [draft: string]>(`
insert into drafts (${ALL})
select ${ALL} from jsonb_to_record($1::jsonb) as given(
  id uuid, organization_id uuid, pod_id uuid, inbox_uid uuid, inbox_address text, kind text, source_id text, "to" text[],
  cc text[], bcc text[], subject text, preview text, labels text[], send_at timestamptz, send_status text, version int,
  size int, created_at timestamptz, updated_at timestamptz, reply_all boolean, "references" text[], reply_to text[],
  text text, html text, sending_since timestamptz, client_id text, take_overs int)
on conflict (inbox_uid, client_id) do nothing
returning ${ALL}`)

const CHANGE = sql<DraftRow, [id: string, content: string]>(`
update drafts
   set ("to", cc, bcc, reply_to, subject, text, html, preview, labels, send_at, send_status, size) = (
         select * from jsonb_to_record($2::jsonb) as given(
           "to" text[], cc text[], bcc text[], reply_to text[], subject text, text text, html text, preview text,
           labels text[], send_at timestamptz, send_status text, size int)),
       version = version + 1, updated_at = now()
 where id = $1
returning ${ALL}`)

const FAIL = sql<DraftRow, [id: string, version: number]>(`
update drafts
   set send_status = 'failed', sending_since = null, version = version + 1, updated_at = now()
 where id = $1 and version = $2
returning ${ALL}`)

// The condition is checked again on the row as a change leaves it that this statement had to wait for.
const CLAIM = sql<DraftRow, [ids: readonly string[]]>(`
with locked as materialized (select id from drafts where id = any($1::uuid[]) order by id for update)
update drafts
   set send_status = 'sending', sending_since = now(), version = version + 1, updated_at = now()
 where id = any(array(select id from locked)) and send_status = 'scheduled' and send_at <= now()
returning ${ALL}`)

const BY_CLIENT_ID = sql<DraftRow, [inboxUid: string, clientId: string]>(
  `select ${ALL} from drafts where inbox_uid = $1 and client_id = $2`,
)
const BY_ID = sql<DraftRow, [id: string]>(`select ${ALL} from drafts where id = $1`)
const IN_SCOPE = sql<DraftRow, [id: string, organizationId: string, podId: string | null, inboxUid: string | null]>(`
select ${ALL} from drafts
 where id = $1 and organization_id = $2 and ($3::uuid is null or pod_id = $3) and ($4::uuid is null or inbox_uid = $4)
   and not exists (select from deleted_scopes where deleted_scopes.id = drafts.inbox_uid)`)
const LOCKED = sql<DraftRow, [id: string, inboxUid: string]>(
  `select ${ALL} from drafts where id = $1 and inbox_uid = $2 for update`,
)
const DELETE = sql<{ id: string }, [id: string, version: number]>(
  'delete from drafts where id = $1 and version = $2 returning id',
)
const EARLIER = sql<DraftIdentity, [organizationId: string, takeOvers: number, rows: number]>(`
delete from drafts
 where id in (select id from drafts where organization_id = $1 and take_overs < $2 order by id limit $3)
returning id, organization_id, pod_id, inbox_uid, version, size`)
type ListValues = [
  scopeId: string,
  organizationId: string,
  labels: readonly string[] | null,
  after: string,
  before: string,
  fromTime: string,
  fromId: string,
  rows: number,
]

/** A list of one tier in one direction; its conditions fit the index of its scope. */
function listOf(scope: 'organization_id' | 'pod_id' | 'inbox_uid', order: 'asc' | 'desc') {
  return sql<DraftItemRow, ListValues>(`
select ${ITEM} from drafts
 where ${scope} = $1 and organization_id = $2 and ($3::text[] is null or labels @> $3)
   and updated_at > $4 and updated_at < $5 and (updated_at, id) ${order === 'asc' ? '>' : '<'} ($6::timestamptz, $7::uuid)
   and not exists (select from deleted_scopes where deleted_scopes.id = drafts.inbox_uid)
 order by updated_at ${order}, id ${order} limit $8`)
}
const LISTS = {
  organization: { asc: listOf('organization_id', 'asc'), desc: listOf('organization_id', 'desc') },
  pod: { asc: listOf('pod_id', 'asc'), desc: listOf('pod_id', 'desc') },
  inbox: { asc: listOf('inbox_uid', 'asc'), desc: listOf('inbox_uid', 'desc') },
}
/** Where a list begins. */
const FIRST = {
  asc: { time: '-infinity', id: '00000000-0000-0000-0000-000000000000' },
  desc: { time: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
}

/** Drafts, which this service owns. */
export const drafts = {
  /** @returns undefined when the inbox has a draft with its `client_id`. */
  async insert(tx: Tx, draft: DraftRow): Promise<DraftRow | undefined> {
    return (await tx.query(INSERT, JSON.stringify(draft)))[0]
  },

  /** Changes a draft that the transaction has locked. */
  async change(tx: Tx, id: string, content: DraftContent): Promise<DraftRow> {
    const [row] = await tx.query(CHANGE, id, JSON.stringify(content))
    if (!row) throw new Error('The draft that was just locked was not found')
    return row
  },

  /** Marks scheduled drafts that are due as being sent. @returns them, without any other. */
  claim(tx: Tx, ids: readonly string[]): Promise<DraftRow[]> {
    return tx.query(CLAIM, ids)
  },

  /** Marks that sending has failed. @returns undefined when the draft has changed since, or is deleted. */
  async fail(tx: Tx, { id, version }: DraftRow): Promise<DraftRow | undefined> {
    return (await tx.query(FAIL, id, version))[0]
  },

  async byClientId(db: Queryable, inboxUid: string, clientId: string): Promise<DraftRow | undefined> {
    return (await db.query(BY_CLIENT_ID, inboxUid, clientId))[0]
  },

  async byId(db: Queryable, id: string): Promise<DraftRow | undefined> {
    return (await db.query(BY_ID, id))[0]
  },

  /** The draft, if it lies in the scope of the request, and its inbox is not being purged. */
  async inScope(db: Queryable, id: string, scope: ScopeFilter): Promise<DraftRow | undefined> {
    const { organizationId, podId = null, inboxUid = null } = scope
    return (await db.query(IN_SCOPE, id, organizationId, podId, inboxUid))[0]
  },

  /** The draft of an inbox, locked against other changes until the transaction ends. */
  async lock(tx: Tx, id: string, inboxUid: string): Promise<DraftRow | undefined> {
    return (await tx.query(LOCKED, id, inboxUid))[0]
  },

  /** @returns whether it was there in this version. */
  async delete(tx: Tx, { id, version }: Pick<DraftRow, 'id' | 'version'>): Promise<boolean> {
    return (await tx.query(DELETE, id, version)).length > 0
  },

  /** Deletes up to `rows` drafts that were created before a take-over. @returns them */
  deleteEarlier(tx: Tx, organizationId: string, takeOvers: number, rows: number): Promise<DraftIdentity[]> {
    return tx.query(EARLIER, organizationId, takeOvers, rows)
  },

  /** One page of a list, by the time of the last change. */
  page(db: Queryable, scope: ScopeFilter, filter: DraftFilter, page: KeysetPage): Promise<DraftItemRow[]> {
    const { organizationId, podId, inboxUid } = scope
    const { labels = null, after, before } = filter
    const tier = inboxUid !== undefined ? 'inbox' : podId !== undefined ? 'pod' : 'organization'
    const id = inboxUid ?? podId ?? organizationId
    const bounds = [after?.toISOString() ?? '-infinity', before?.toISOString() ?? 'infinity'] as const
    const from = page.after ? { time: page.after.time.toISOString(), id: page.after.id } : FIRST[page.order]
    return db.query(LISTS[tier][page.order], id, organizationId, labels, ...bounds, from.time, from.id, page.take)
  },
}

/** Filters of a list: all labels, strict bounds of the time of the last change. */
export interface DraftFilter {
  readonly labels?: readonly string[] | undefined
  readonly before?: Date | undefined
  readonly after?: Date | undefined
}
