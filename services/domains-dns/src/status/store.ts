import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { COLUMNS, type DomainRow, lockByUid } from '../registrations/store.ts'

const NAME_OF = sql<{ name: string }, [uid: string]>('select name from domains where uid = $1')
const LOCK_NAME = sql<never, [name: string]>("select pg_advisory_xact_lock(hashtextextended('domain ' || $1, 0))")

/**
 * Locks a registration that will be changed. The name is locked first: of several organizations that have registered
 * it, one at a time decides who holds it, and each of them locks the rows of the others only after that.
 */
export async function lockForChange(tx: Tx, uid: string): Promise<DomainRow | undefined> {
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

/** The columns that `applyChanges` writes: all that can change, except the lease and the requests of owners. */
const CHANGEABLE = `inbound_enabled, subdomains_enabled, feedback_enabled, tracking_enabled, status, reason, records,
  sending_checks, sending_ready, dkim_failing_since, converging_since, failing_checks, failing_since, verified_at,
  last_verified_at, lost_at, barred_at, certified_until, scheduled_from, checked_at, checks, version, updated_at`
const SAVE = sql<never, [uid: string, row: string]>(
  `update domains set (${CHANGEABLE}) = (select ${CHANGEABLE} from jsonb_populate_record(null::domains, $2::jsonb))
    where uid = $1`,
)

/** Writes a registration as it is changed. */
export async function save(tx: Tx, row: DomainRow): Promise<void> {
  await tx.query(SAVE, row.uid, JSON.stringify(row))
}
