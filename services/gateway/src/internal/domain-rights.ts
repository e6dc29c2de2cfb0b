import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'
import { domainLimitOf } from '../domains/limit.ts'
import { isLivePod } from '../pods/references.ts'

const RIGHTS = sql<{ authenticationType: string | null; domainLimit: number | null }, [id: string]>(`
select authentication_type as "authenticationType", domain_limit as "domainLimit"
  from organizations where id = $1 and deleting_at is null`)

/** What an organization may register. */
export async function domainRights(
  db: Queryable,
  { organization_id: organizationId, pod_id: podId }: InternalRequestOf<'gateway.getDomainRights'>,
  commonLimit: number,
): Promise<InternalResponseOf<'gateway.getDomainRights'>> {
  const [row] = await db.query(RIGHTS, organizationId)
  if (row === undefined) return { live: false }
  const live = podId === undefined || (await isLivePod(db, organizationId, podId))
  return { live, domain_limit: domainLimitOf(row, commonLimit) }
}
