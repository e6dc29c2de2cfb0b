import type { ListDirection, ListType, Tier } from '@restante/contracts/vocabulary'
import type { NamedEntry } from '@restante/mime'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeysetPage } from '@restante/service/http'

/** One list: whose it is, and what it applies to. */
export interface List {
  readonly tier: Tier
  /** Id of the organization, the pod or the inbox. */
  readonly scope_id: string
  readonly direction: ListDirection
  readonly type: ListType
}

/** Where the list of an entry lies in the tree of organization, pod and inbox. */
export interface EntryScope {
  readonly organization_id: string
  readonly pod_id: string | null
  readonly inbox_uid: string | null
}

export interface EntryRow extends List, EntryScope {
  readonly id: string
  readonly entry: string
  readonly entry_type: NamedEntry['entryType']
  readonly reason: string | null
  /** Made by the service: callers cannot delete it. */
  readonly read_only: boolean
  /** Number of take-overs of the organization when it was made, or made again (identity 5.1). */
  readonly take_overs: number
  readonly version: number
  readonly created_at: Date
  readonly updated_at: Date
}

export interface NewEntry extends List, EntryScope, NamedEntry {
  readonly reason: string | undefined
  /** Number of take-overs of the organization when it was made (identity 5.1). */
  readonly takeOvers: number
}

type ListValues = [tier: Tier, scopeId: string, direction: ListDirection, type: ListType]

const COLUMNS = `id, organization_id, pod_id, inbox_uid, tier, scope_id, direction, type, entry, entry_type, reason, read_only,
  take_overs, version, created_at, updated_at`
const OF_LIST = 'tier = $1 and scope_id = $2 and direction = $3 and type = $4'

const PAGE = sql<EntryRow, [...ListValues, after: string, rows: number]>(
  `select ${COLUMNS} from list_entries where ${OF_LIST} and entry > $5 order by entry limit $6`,
)
const INBOUND = sql<EntryRow, [after: string | null, rows: number]>(
  `select ${COLUMNS} from list_entries
    where ($1::uuid is null or id > $1) and direction in ('receive', 'reply') order by id limit $2`,
)
const ONE = sql<EntryRow, [...ListValues, entry: string]>(
  `select ${COLUMNS} from list_entries where ${OF_LIST} and entry = $5`,
)
const LOCKED = sql<EntryRow, [...ListValues, entry: string]>(
  `select ${COLUMNS} from list_entries where ${OF_LIST} and entry = $5 for update`,
)
const LOCK_NAME = sql<unknown, [scopeId: string, entry: string]>(
  `select pg_advisory_xact_lock(hashtextextended('list entry ' || $1 || ' ' || $2, 0))`,
)
const INSERT = sql<
  EntryRow,
  [
    ...ListValues,
    entry: string,
    entryType: string,
    organizationId: string,
    podId: string | null,
    inboxUid: string | null,
    reason: string | null,
    takeOvers: number,
  ]
>(`
insert into list_entries (id, tier, scope_id, direction, type, entry, entry_type, organization_id, pod_id, inbox_uid, reason,
                          take_overs)
values (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict do nothing
returning ${COLUMNS}`)
const CHANGE_REASON = sql<EntryRow, [id: string, reason: string]>(
  `update list_entries set reason = $2, version = version + 1, updated_at = now() where id = $1 returning ${COLUMNS}`,
)
const KEEP = sql<unknown, [id: string, takeOvers: number]>('update list_entries set take_overs = $2 where id = $1')
const DELETE = sql<unknown, [id: string]>('delete from list_entries where id = $1')

// An entry that a caller made becomes one of the service. A complaint outranks other reasons, whichever came first.
const SUPPRESS = sql<EntryRow, [organizationId: string, address: string, reason: string]>(`
insert into list_entries as held (id, tier, scope_id, direction, type, entry, entry_type, organization_id, reason, read_only)
values (gen_random_uuid(), 'organization', $1, 'send', 'block', $2, 'email', $1, $3, true)
on conflict (scope_id, tier, direction, type, entry) do update
   set reason = excluded.reason, read_only = true, version = held.version + 1, updated_at = now()
 where not held.read_only or (excluded.reason = 'complained' and held.reason is distinct from excluded.reason)
returning ${COLUMNS}`)

/** An entry with one of the names; or, without a name, that there is an allow list with any entry. */
export interface FoundEntry {
  readonly tier: Tier
  readonly type: ListType
  readonly entry: string | null
  readonly reason: string | null
  readonly read_only: boolean
}

// Each `limit 1` looks up one row in an index, however many entries a list has.
const FIND = sql<
  FoundEntry,
  [direction: ListDirection, organizationId: string, podId: string, inboxUid: string, names: readonly string[]]
>(`
with scopes(tier, scope_id) as (values ('organization', $2::uuid), ('pod', $3::uuid), ('inbox', $4::uuid))
select tier, type, entry, reason, read_only
  from scopes join list_entries as named using (tier, scope_id)
 where direction = $1 and type in ('allow', 'block') and entry = any($5::text[])
 union all
select tier, 'allow', null, null, false
  from scopes
 cross join lateral (
   select from list_entries as entry
    where entry.scope_id = scopes.scope_id and entry.tier = scopes.tier and entry.direction = $1 and entry.type = 'allow'
    limit 1) as one`)

const OF_SCOPE = sql<{ id: string }, [tier: Tier, scopeId: string, rows: number]>(`
delete from list_entries
 where id in (select id from list_entries where tier = $1 and scope_id = $2 limit $3)
returning id`)
/** Of an organization, its pods and its inboxes. */
export const DELETE_ENTRIES_OF_ORGANIZATION = `delete from list_entries where id in
    (select id from list_entries where organization_id = $1 limit $2) returning 1 as one`
const EARLIER = sql<EntryRow, [organizationId: string, takeOvers: number, after: string, rows: number]>(`
delete from list_entries
 where id in (select id from list_entries
               where organization_id = $1 and take_overs < $2 and not read_only and id > $3
               order by id limit $4)
returning ${COLUMNS}`)

function valuesOf({ tier, scope_id, direction, type }: List): ListValues {
  return [tier, scope_id, direction, type]
}

/** Entries of allow and block lists, which this service owns. */
export const listEntries = {
  /** One page of a list, in alphabetical order. */
  page(db: Queryable, list: List, page: KeysetPage): Promise<EntryRow[]> {
    return db.query(PAGE, ...valuesOf(list), page.after?.rank ?? '', page.take)
  },

  /** Entries of receive and reply lists of all scopes, by id. */
  inbound(db: Queryable, after: string | undefined, rows: number): Promise<EntryRow[]> {
    return db.query(INBOUND, after ?? null, rows)
  },

  async get(db: Queryable, list: List, entry: string): Promise<EntryRow | undefined> {
    return (await db.query(ONE, ...valuesOf(list), entry))[0]
  },

  /** The entry, locked against other changes until the transaction ends. */
  async lock(tx: Tx, list: List, entry: string): Promise<EntryRow | undefined> {
    return (await tx.query(LOCKED, ...valuesOf(list), entry))[0]
  },

  /** Excludes other changes of entries with this name in the scope, so that no two opposite ones are made. */
  async lockName(tx: Tx, scopeId: string, entry: string): Promise<void> {
    await tx.query(LOCK_NAME, scopeId, entry)
  },

  /** @returns undefined when the list has an entry of that name, which a report may have made a moment ago. */
  async insert(tx: Tx, given: NewEntry): Promise<EntryRow | undefined> {
    const { entry, entryType, organization_id, pod_id, inbox_uid, reason = null, takeOvers } = given
    const scope = [organization_id, pod_id, inbox_uid] as const
    return (await tx.query(INSERT, ...valuesOf(given), entry, entryType, ...scope, reason, takeOvers))[0]
  },

  async changeReason(tx: Tx, id: string, reason: string): Promise<EntryRow> {
    const [row] = await tx.query(CHANGE_REASON, id, reason)
    if (!row) throw new Error('The entry that was just locked was not found')
    return row
  },

  /** Makes an entry of an earlier holder one of the present holder, who asked for it too. */
  async keep(tx: Tx, id: string, takeOvers: number): Promise<void> {
    await tx.query(KEEP, id, takeOvers)
  },

  async delete(tx: Tx, id: string): Promise<void> {
    await tx.query(DELETE, id)
  },

  /** Adds a read-only entry, or makes one of a caller read-only. @returns the entry, if it changed. */
  async suppress(tx: Tx, organizationId: string, address: string, reason: string): Promise<EntryRow | undefined> {
    return (await tx.query(SUPPRESS, organizationId, address, reason))[0]
  },

  /** The entries with these names in the lists that apply to an inbox, and which allow lists have entries. */
  find(
    db: Queryable,
    direction: ListDirection,
    inbox: { readonly organizationId: string; readonly podId: string; readonly uid: string },
    names: readonly string[],
  ): Promise<FoundEntry[]> {
    return db.query(FIND, direction, inbox.organizationId, inbox.podId, inbox.uid, names)
  },

  /** Deletes up to `rows` entries of an inbox's or a pod's own lists. @returns how many */
  async deleteOfScope(tx: Tx, tier: 'inbox' | 'pod', id: string, rows: number): Promise<number> {
    return (await tx.query(OF_SCOPE, tier, id, rows)).length
  },

  /** Deletes up to `rows` entries after an id that callers made before a take-over. @returns them */
  deleteEarlier(tx: Tx, organizationId: string, takeOvers: number, after: string, rows: number): Promise<EntryRow[]> {
    return tx.query(EARLIER, organizationId, takeOvers, after, rows)
  },
}
