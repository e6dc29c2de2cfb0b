import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { DomainRow } from '../../registrations/store.ts'

/**
 * Of registrations that have tracking switched on, while no other organization holds their name. One that lost it once
 * gets a certificate again when that proof has lapsed: without one it could not become verified.
 */
export const KEEPING = "tracking_enabled and not (status = 'FAILED' and reason = 'dns_records_invalid')"
/** Of these, those whose record is there, so that the authority can prove the host. */
export const WANTING = `${KEEPING} and records->'tracking'->>'status' = 'VALID'`

const COUNT = sql<{ keeping: number; wanting: number }, [name: string]>(
  `select count(*)::int as keeping, count(*) filter (where ${WANTING})::int as wanting
   from domains where name = $1 and ${KEEPING}`,
)
const KEEPERS = sql<{ uid: string }, [name: string]>(
  `select uid from domains where name = $1 and ${KEEPING} order by uid`,
)
const CERTIFIED = sql<{ uid: string }, [name: string]>(
  'select uid from domains where name = $1 and certified_until is not null order by uid',
)
const FIND_OTHER = sql<{ uid: string }, [name: string, uid: string]>(
  `select uid from domains where name = $1 and uid <> $2 and ${KEEPING} limit 1`,
)
const UNCERTIFIED = sql<{ name: string }, [after: string, limit: number]>(
  `select distinct name from domains where ${WANTING} and name > $1 and not exists (
     select 1 from tracking_certificates where tracking_certificates.name = domains.name)
   order by name limit $2`,
)

/** Whether the authority can prove the tracking host of a registration, and it should. */
export function wantsCertificate({ tracking_enabled, status, reason, records }: DomainRow): boolean {
  const isHeldElsewhere = status === 'FAILED' && reason === 'dns_records_invalid'
  return tracking_enabled && !isHeldElsewhere && records.tracking?.status === 'VALID'
}

/** How many registrations of a name have tracking switched on, and at how many of them the record is there. */
export async function countRegistrations(
  on: Queryable,
  name: string,
): Promise<{ readonly keeping: number; readonly wanting: number }> {
  const [counts] = await on.query(COUNT, name)
  return counts ?? { keeping: 0, wanting: 0 }
}

/** Registrations of a name that have tracking switched on. The name must be locked. */
export async function findKeepers(tx: Tx, name: string): Promise<string[]> {
  return (await tx.query(KEEPERS, name)).map(({ uid }) => uid)
}

/** Registrations of a name for which a certificate is installed. The name must be locked. */
export async function findCertified(tx: Tx, name: string): Promise<string[]> {
  return (await tx.query(CERTIFIED, name)).map(({ uid }) => uid)
}

/** Whether a registration besides this one has tracking switched on for the name. */
export async function hasOther(tx: Tx, name: string, uid: string): Promise<boolean> {
  return (await tx.query(FIND_OTHER, name, uid)).length > 0
}

/** Names after `after` whose tracking host has no certificate, in order. */
export async function findUncertified(on: Queryable, after: string, limit: number): Promise<string[]> {
  return (await on.query(UNCERTIFIED, after, limit)).map(({ name }) => name)
}
