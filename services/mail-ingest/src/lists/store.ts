import { LIMITS, type ListDirection, type ListType, type Tier } from '@restante/contracts/vocabulary'
import type { ProjectedRow } from '@restante/messaging'
import { type Queryable, sql } from '@restante/service/database'

/** Directions of lists by which received mail is judged. */
export type InboundDirection = Exclude<ListDirection, 'send'>

/** Whose list an entry is on. */
interface ListScope {
  readonly tier: Tier
  readonly scope_id: string
}

/** An entry, or its deletion, as the owner describes it. */
export interface EntryState extends ListScope {
  readonly id: string
  readonly organization_id: string
  readonly direction: InboundDirection
  readonly type: ListType
  readonly entry: string
  readonly version: number
  readonly deleted_at: string | null
}

/** A name to be looked up in the lists that apply to an inbox. */
export interface NameForInbox {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly name: string
}

/** An entry that has one of the names; or, without a name, that there is an allow list with any entry. */
export interface FoundEntry extends ListScope {
  readonly direction: InboundDirection
  readonly type: ListType
  readonly entry: string | null
}

const APPLY = sql<
  never,
  [
    id: string,
    organizationId: string,
    tier: Tier,
    scopeId: string,
    direction: InboundDirection,
    type: ListType,
    entry: string,
    version: number,
    deletedAt: string | null,
  ]
>(`
insert into list_entries (id, organization_id, tier, scope_id, direction, type, entry, version, deleted_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9::timestamptz)
on conflict (id) do update set version = excluded.version, deleted_at = excluded.deleted_at
 where list_entries.version < excluded.version`)

// Organizations without any entry are left out first, so for most mail this reads one index entry per organization. Each
// `limit 1` has its row looked up in an index; without it, all entries of the installation may be read for a join.
const FIND = sql<
  FoundEntry,
  [
    organizationIds: readonly string[],
    podIds: readonly string[],
    inboxUids: readonly string[],
    names: readonly string[],
  ]
>(`
with listed as (
  select asked.id
    from (select distinct unnest($1::uuid[]) as id) as asked
   cross join lateral (
     select from list_entries where organization_id = asked.id and deleted_at is null limit 1) as one),
scopes as (
  select distinct scope.tier, scope.scope_id, name
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) as wanted(organization_id, pod_id, inbox_uid, name)
    join listed on listed.id = organization_id
   cross join lateral (
     values ('inbox', inbox_uid), ('pod', pod_id), ('organization', organization_id)) as scope(tier, scope_id))
select named.tier, named.scope_id, direction, type, entry
  from scopes join list_entries as named
    on named.scope_id = scopes.scope_id and named.tier = scopes.tier and entry = name
 where deleted_at is null
 union all
select tier, scope_id, direction, 'allow', null
  from (select distinct tier, scope_id from scopes) as scope
 cross join (values ('receive'), ('reply')) as way(direction)
 cross join lateral (
   select from list_entries as entry
    where entry.scope_id = scope.scope_id and entry.tier = scope.tier and entry.direction = way.direction
      and entry.type = 'allow' and entry.deleted_at is null limit 1) as one`)

const OF_SCOPE = sql<{ id: string }, [tier: Tier, scopeId: string, rows: number]>(`
delete from list_entries
 where id in (select id from list_entries where tier = $1 and scope_id = $2 limit $3)
returning id`)
const OF_ORGANIZATION = sql<{ id: string }, [organizationId: string, rows: number]>(`
delete from list_entries
 where id in (select id from list_entries where organization_id = $1 limit $2)
returning id`)

const BETWEEN = sql<ProjectedRow, [after: string, through: string, rows: number]>(`
select id, version::float8 as version, deleted_at is not null as deleted
  from list_entries
 where id > $1 and id <= $2
 order by id
 limit $3`)
const DROP = sql<never, [id: string, version: number]>('delete from list_entries where id = $1 and version = $2')

/** An event about a deleted entry can arrive no later than its mark would still be known. */
const FORGET_SECONDS = LIMITS.retention.consumedMark / 1_000
export const FORGET_DELETED_ENTRIES = sql<{ id: string }, [rows: number]>(`
delete from list_entries
 where id in (select id from list_entries where deleted_at < now() - interval '${FORGET_SECONDS} seconds' limit $1)
returning id`)

/** The projection of receive and reply lists, which mail-send owns. */
export const listEntries = {
  /** Writes the state of an entry, unless a newer one is known. */
  async apply(db: Queryable, state: EntryState): Promise<void> {
    const { id, organization_id, tier, scope_id, direction, type, entry, version, deleted_at } = state
    await db.query(APPLY, id, organization_id, tier, scope_id, direction, type, entry, version, deleted_at)
  },

  /** Those with ids after the first and up to the second one. */
  between(db: Queryable, after: string, through: string, rows: number): Promise<ProjectedRow[]> {
    return db.query(BETWEEN, after, through, rows)
  },

  /** Forgets an entry that has this version. */
  async drop(db: Queryable, id: string, version: number): Promise<void> {
    await db.query(DROP, id, version)
  },

  /** The entries with these names in the lists that apply to each inbox, and which allow lists have entries. */
  find(db: Queryable, wanted: readonly NameForInbox[]): Promise<FoundEntry[]> {
    return db.query(
      FIND,
      wanted.map(({ organization_id }) => organization_id),
      wanted.map(({ pod_id }) => pod_id),
      wanted.map(({ inbox_uid }) => inbox_uid),
      wanted.map(({ name }) => name),
    )
  },

  /** Deletes up to `rows` entries of an inbox's or a pod's own lists. @returns how many */
  async deleteOfScope(db: Queryable, tier: 'inbox' | 'pod', id: string, rows: number): Promise<number> {
    return (await db.query(OF_SCOPE, tier, id, rows)).length
  },

  /** Deletes up to `rows` entries of an organization, of its pods and its inboxes. @returns how many */
  async deleteOfOrganization(db: Queryable, id: string, rows: number): Promise<number> {
    return (await db.query(OF_ORGANIZATION, id, rows)).length
  },
}
