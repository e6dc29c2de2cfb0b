import type { DomainState } from '@restante/contracts/events'
import type { ProjectedRow } from '@restante/messaging'
import { type Queryable, sql } from '@restante/service/database'

/** A registration of a domain by an organization (domains 1). */
export interface Registration {
  readonly id: string
  readonly organization_id: string
  /** Lower case, in ASCII. */
  readonly domain: string
  /** Whether addresses at exactly this domain receive mail. */
  readonly inbound_enabled: boolean
  /** Whether addresses below this domain receive mail. */
  readonly subdomains_enabled: boolean
  /** Whether reports about mail of an inbox are also stored in this inbox. */
  readonly feedback_enabled: boolean
  /** Whether its organization has proven the name, and no other has since: else no inbox on it sends or receives. */
  readonly proven: boolean
  /** Whether its inboxes may send. */
  readonly sending_ready: boolean
  /** Domain of the envelope senders of its mail; null once it is deleted. */
  readonly return_path: string | null
  /** Host of the images that tell of opening; null where there is none. */
  readonly tracking_host: string | null
  readonly deleted: boolean
}

/** A registration, or its deletion, as the owner describes it. */
export interface RegistrationState extends Omit<Registration, 'deleted'> {
  readonly version: number
  readonly deleted_at: string | null
}

/** What is left of a deleted registration. */
export const NOTHING_LEFT = {
  inbound_enabled: false,
  subdomains_enabled: false,
  feedback_enabled: false,
  proven: false,
  sending_ready: false,
  return_path: null,
  tracking_host: null,
} as const

/** A live registration as this projection stores it. */
export function registrationStateOf({ domain_uid: id, ...state }: DomainState): RegistrationState {
  return { ...state, id, tracking_host: state.tracking_host ?? null, deleted_at: null }
}

/** A live registration that the owner names, which this projection may not know yet. */
export function registrationOfOwner({ domain_uid: id, ...state }: DomainState): Registration {
  return { ...state, id, tracking_host: state.tracking_host ?? null, deleted: false }
}

const APPLY = sql<
  never,
  [
    id: string,
    organizationId: string,
    domain: string,
    inbound: boolean,
    subdomains: boolean,
    feedback: boolean,
    sendingReady: boolean,
    returnPath: string | null,
    trackingHost: string | null,
    version: number,
    deletedAt: string | null,
    proven: boolean,
  ]
>(`
insert into registered_domains (id, organization_id, domain, inbound_enabled, subdomains_enabled, feedback_enabled,
                                sending_ready, return_path, tracking_host, version, deleted_at, proven)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::timestamptz, $12)
on conflict (id) do update
   set inbound_enabled = excluded.inbound_enabled, subdomains_enabled = excluded.subdomains_enabled,
       feedback_enabled = excluded.feedback_enabled, sending_ready = excluded.sending_ready,
       return_path = excluded.return_path, tracking_host = excluded.tracking_host,
       version = excluded.version, deleted_at = excluded.deleted_at, proven = excluded.proven
 where registered_domains.version < excluded.version`)

const NAMED = sql<Registration, [names: readonly string[]]>(`
select id, organization_id, domain, inbound_enabled, subdomains_enabled, feedback_enabled, proven, sending_ready,
       return_path, tracking_host, deleted_at is not null as deleted
  from registered_domains
 where domain = any($1::text[])`)

const ANY_WITH_FEEDBACK = sql<{ found: boolean }, []>(
  'select exists(select from registered_domains where feedback_enabled and deleted_at is null) as found',
)

const OF_ORGANIZATION = sql<{ id: string }, [organizationId: string, rows: number]>(`
delete from registered_domains
 where id in (select id from registered_domains where organization_id = $1 limit $2)
returning id`)

const SEEN = sql<never, [ids: readonly string[], at: Date]>(
  'update registered_domains set reconciled_at = $2 where id = any($1::uuid[])',
)
const DELETE_UNSEEN = sql<{ id: string }, [at: Date]>(
  'delete from registered_domains where reconciled_at < $1 returning id',
)

const BETWEEN = sql<ProjectedRow, [after: string, through: string, rows: number]>(`
select id, version::float8 as version, deleted_at is not null as deleted
  from registered_domains
 where id > $1 and id <= $2
 order by id
 limit $3`)
const DROP = sql<never, [id: string, version: number]>('delete from registered_domains where id = $1 and version = $2')

/** The projection of registered domains. */
export const registrations = {
  /** Writes the state of a registration, unless a newer one is known. */
  async apply(db: Queryable, state: RegistrationState): Promise<void> {
    const { id, organization_id, domain, inbound_enabled, subdomains_enabled, feedback_enabled } = state
    const { sending_ready, return_path, tracking_host, version, deleted_at, proven } = state
    const switches = [inbound_enabled, subdomains_enabled, feedback_enabled, sending_ready] as const
    const hosts = [return_path, tracking_host] as const
    await db.query(APPLY, id, organization_id, domain, ...switches, ...hosts, version, deleted_at, proven)
  },

  /** The registrations of these names, deleted ones included. */
  named(db: Queryable, names: readonly string[]): Promise<Registration[]> {
    return db.query(NAMED, names)
  },

  /** Notes when their owner last named these registrations. */
  async markSeen(db: Queryable, ids: readonly string[], at: Date): Promise<void> {
    await db.query(SEEN, ids, at)
  },

  /** Deletes the registrations that their owner did not name since, deleted ones included. @returns how many */
  async deleteUnseen(db: Queryable, at: Date): Promise<number> {
    return (await db.query(DELETE_UNSEEN, at)).length
  },

  /** Those with uids after the first and up to the second one. */
  between(db: Queryable, after: string, through: string, rows: number): Promise<ProjectedRow[]> {
    return db.query(BETWEEN, after, through, rows)
  },

  /** Forgets a registration that has this version. */
  async drop(db: Queryable, id: string, version: number): Promise<void> {
    await db.query(DROP, id, version)
  },

  /** Whether any live registration wants copies of reports. */
  async anyWithFeedback(db: Queryable): Promise<boolean> {
    const [row] = await db.query(ANY_WITH_FEEDBACK)
    return row?.found ?? false
  },

  /** Deletes up to `rows` registrations of an organization. @returns how many */
  async deleteOfOrganization(db: Queryable, id: string, rows: number): Promise<number> {
    return (await db.query(OF_ORGANIZATION, id, rows)).length
  },
}
