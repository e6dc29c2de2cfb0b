import type { DomainReason, DomainStatus } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { RecordChecks, SendingChecks } from '../records/checks.ts'
import type { PublishedKey } from '../records/expected.ts'

/** A registration of a name by an organization, as it is stored. */
export interface DomainRow {
  readonly uid: string
  readonly organization_id: string
  /** Null: usable from every pod. */
  readonly pod_id: string | null
  readonly name: string
  readonly client_id: string | null
  readonly inbound_enabled: boolean
  readonly subdomains_enabled: boolean
  readonly feedback_enabled: boolean
  readonly tracking_enabled: boolean
  readonly allow_conflicting_provider: boolean
  readonly status: DomainStatus
  readonly reason: DomainReason | null
  readonly records: RecordChecks
  readonly sending_checks: SendingChecks
  readonly sending_ready: boolean
  readonly dkim_failing_since: Date | null
  readonly converging_since: Date | null
  readonly failing_checks: number
  readonly failing_since: Date | null
  readonly verified_at: Date | null
  readonly last_verified_at: Date | null
  readonly lost_at: Date | null
  readonly barred_at: Date | null
  readonly certified_until: Date | null
  readonly scheduled_from: Date
  readonly checked_at: Date | null
  readonly checks: number
  readonly version: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** Every column of `DomainRow`, in statements of any capability. */
export const COLUMNS = `uid, organization_id, pod_id, name, client_id, inbound_enabled, subdomains_enabled,
  feedback_enabled, tracking_enabled, allow_conflicting_provider, status, reason, records, sending_checks, sending_ready,
  dkim_failing_since, converging_since, failing_checks, failing_since, verified_at, last_verified_at, lost_at, barred_at,
  certified_until, scheduled_from, checked_at, checks, version, created_at, updated_at`

const FIND = sql<DomainRow, [uid: string]>(`select ${COLUMNS} from domains where uid = $1`)
const LOCK = sql<DomainRow, [uid: string]>(`select ${COLUMNS} from domains where uid = $1 for update`)

/** A registration by its uid, whoever's it is: for work that no caller asked for. */
export async function findByUid(on: Queryable, uid: string): Promise<DomainRow | undefined> {
  const [row] = await on.query(FIND, uid)
  return row
}

/** The same, locked until the transaction ends. */
export async function lockByUid(tx: Tx, uid: string): Promise<DomainRow | undefined> {
  const [row] = await tx.query(LOCK, uid)
  return row
}

const KEY = sql<PublishedKey, [uid: string]>(
  'select selector, public_key as "publicKey" from domain_keys where domain_uid = $1',
)

/** What a registration publishes of its key. @throws ApiError 404 when it was deleted since it was read. */
export async function publishedKeyOf(on: Queryable, uid: string): Promise<PublishedKey> {
  const [key] = await on.query(KEY, uid)
  if (key) return key
  throw notFound('Domain')
}

/** What a request registers. */
export interface NewDomain {
  readonly uid: string
  readonly organizationId: string
  readonly podId: string | null
  readonly name: string
  readonly clientId: string | null
  readonly inbound: boolean
  readonly subdomains: boolean
  readonly feedback: boolean
  readonly tracking: boolean
  readonly allowConflictingProvider: boolean
}

const INSERT = sql<
  DomainRow,
  [
    uid: string,
    organizationId: string,
    podId: string | null,
    name: string,
    clientId: string | null,
    inbound: boolean,
    subdomains: boolean,
    feedback: boolean,
    tracking: boolean,
    allowConflictingProvider: boolean,
  ]
>(
  `insert into domains (uid, organization_id, pod_id, name, client_id, inbound_enabled, subdomains_enabled,
     feedback_enabled, tracking_enabled, allow_conflicting_provider)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${COLUMNS}`,
)

/** Stores a registration that no check has seen yet. */
export async function insertDomain(tx: Tx, given: NewDomain): Promise<DomainRow> {
  const { uid, organizationId, podId, name, clientId } = given
  const switches = [given.inbound, given.subdomains, given.feedback, given.tracking] as const
  const values = [uid, organizationId, podId, name, clientId, ...switches, given.allowConflictingProvider] as const
  const [row] = await tx.query(INSERT, ...values)
  if (!row) throw new Error('the domain that was just stored was not found')
  return row
}

const DELETE = sql<never, [uid: string]>('delete from domains where uid = $1')

/** Deletes a registration, and with it its key. */
export async function deleteDomain(tx: Tx, uid: string): Promise<void> {
  await tx.query(DELETE, uid)
}

const LOCK_ORGANIZATION = sql<never, [organizationId: string]>(
  `select pg_advisory_xact_lock(hashtextextended('domains of ' || $1, 0))`,
)

/** Registers the domains of an organization one after the other, so that its limit is counted exactly. */
export async function lockDomainsOf(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(LOCK_ORGANIZATION, organizationId)
}
