import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { COLUMNS, type DomainRow, lockByUid } from '../registrations/store.ts'

const NAME_OF = sql<{ name: string }, [uid: string]>('select name from domains where uid = $1')
const LOCK_NAME = sql<never, [name: string]>("select pg_advisory_xact_lock(hashtextextended('domain ' || $1, 0))")

/**
 * Locks a registration that will be settled. The name is locked first: of several organizations that have registered
 * it, one at a time decides who holds it, and each of them locks the rows of the others only after that.
 */
export async function lockForSettling(tx: Tx, uid: string): Promise<DomainRow | undefined> {
  const [named] = await tx.query(NAME_OF, uid)
  if (!named) return undefined
  await lockName(tx, named.name)
  return lockByUid(tx, uid)
}

/** Held until the transaction ends; taken again without effect. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx.query(LOCK_NAME, name)
}

type HeldValues = [name: string, organizationId: string, now: Date, proofMs: number]
const HELD = sql<{ held: boolean }, HeldValues>(
  `select exists (
     select from domains
     where name = $1 and organization_id <> $2
       and (status = 'VERIFIED' or last_verified_at > $3::timestamptz - $4::float8 * interval '1 millisecond')
   ) or exists (
     select from former_proofs
     where name = $1 and organization_id <> $2
       and last_verified_at > $3::timestamptz - $4::float8 * interval '1 millisecond'
   ) as held`,
)

/** Whether another organization holds proof of a name: it is verified, or was lately (domains 2.1). */
export async function isHeldElsewhere(
  on: Queryable,
  { name, organization_id }: Pick<DomainRow, 'name' | 'organization_id'>,
  now: Date,
): Promise<boolean> {
  const [row] = await on.query(HELD, name, organization_id, now, LIMITS.domain.proof)
  return row?.held === true
}

const LOCK_RIVALS = sql<DomainRow, [name: string, organizationId: string]>(
  `select ${COLUMNS} from domains where name = $1 and organization_id <> $2 order by uid for update`,
)

/** The registrations of a name by other organizations, locked. The name must be locked. */
export function lockRivals(tx: Tx, { name, organization_id }: DomainRow): Promise<DomainRow[]> {
  return tx.query(LOCK_RIVALS, name, organization_id)
}

/** The columns that a settlement writes. */
const SAVE = sql<
  never,
  [
    uid: string,
    switches: [inbound: boolean, subdomains: boolean, feedback: boolean, tracking: boolean],
    texts: [status: string, reason: string | null],
    records: string,
    sending: string,
    sendingReady: boolean,
    times: (string | null)[],
    numbers: [failingChecks: number, checks: number, version: number],
  ]
>(`
  update domains set
    inbound_enabled = ($2::boolean[])[1], subdomains_enabled = ($2::boolean[])[2],
    feedback_enabled = ($2::boolean[])[3], tracking_enabled = ($2::boolean[])[4],
    status = ($3::text[])[1], reason = ($3::text[])[2], records = $4::jsonb, sending_checks = $5::jsonb,
    sending_ready = $6::boolean,
    dkim_failing_since = ($7::timestamptz[])[1], converging_since = ($7::timestamptz[])[2],
    failing_since = ($7::timestamptz[])[3], verified_at = ($7::timestamptz[])[4],
    last_verified_at = ($7::timestamptz[])[5], lost_at = ($7::timestamptz[])[6], barred_at = ($7::timestamptz[])[7],
    certified_until = ($7::timestamptz[])[8], scheduled_from = ($7::timestamptz[])[9],
    checked_at = ($7::timestamptz[])[10], updated_at = ($7::timestamptz[])[11],
    failing_checks = ($8::int[])[1], checks = ($8::int[])[2], version = ($8::int[])[3]
  where uid = $1`)

/** Writes everything of a registration that can change, except its lease. */
export async function save(tx: Tx, row: DomainRow): Promise<void> {
  const times = [
    row.dkim_failing_since,
    row.converging_since,
    row.failing_since,
    row.verified_at,
    row.last_verified_at,
    row.lost_at,
    row.barred_at,
    row.certified_until,
    row.scheduled_from,
    row.checked_at,
    row.updated_at,
  ].map((time) => time?.toISOString() ?? null)
  await tx.query(
    SAVE,
    row.uid,
    [row.inbound_enabled, row.subdomains_enabled, row.feedback_enabled, row.tracking_enabled],
    [row.status, row.reason],
    JSON.stringify(row.records),
    JSON.stringify(row.sending_checks),
    row.sending_ready,
    times,
    [row.failing_checks, row.checks, row.version],
  )
}
