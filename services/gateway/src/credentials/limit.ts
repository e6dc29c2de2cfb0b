import { sql } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { Actor } from '../audit/actor.ts'
import type { Organization } from '../generated/prisma/client.ts'
import type { Tx } from '../storage/database.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import { revokeCredentials } from './store.ts'

/** Most expired keys that one create removes. */
const BATCH = 100
const LIMIT: Actor = { kind: 'system', id: 'api key limit' }

const COUNT = sql<{ live: number; expired: number }, [organizationId: string]>(`
select count(*) filter (where expires_at is null or expires_at > now())::int as live,
       count(*) filter (where expires_at <= now())::int as expired
  from credentials where organization_id = $1`)

const LONGEST_EXPIRED = sql<{ id: string }, [organizationId: string, rows: number]>(`
select id from credentials where organization_id = $1 and expires_at <= now() order by expires_at, id limit $2`)

/**
 * Refuses a key beyond the limit.
 * @param common the limit of organizations that have none of their own.
 * @throws ApiError 403
 */
export async function refuseBeyondLimit(
  tx: Tx,
  events: TenancyEvents,
  organization: Pick<Organization, 'id' | 'credentialLimit'>,
  common: number,
): Promise<void> {
  if (await hasRoom(tx, events, organization, common)) return
  throw new ApiError('limit_exceeded', {
    message: 'API key limit exceeded',
    fix: "Delete a key or raise the organization's limit.",
    details: { resource: 'api_key', limit: organization.credentialLimit ?? common },
  })
}

/**
 * Whether an organization may have one more key. The caller holds the organization's lock, so that the count is exact (identity 3.4
 * rule 14). The number of expired keys kept is limited to the same number: otherwise keys that expire at once would
 * pile up in 30 days beyond what the deletion of their scope can remove.
 */
export async function hasRoom(
  tx: Tx,
  events: TenancyEvents,
  { id, credentialLimit }: Pick<Organization, 'id' | 'credentialLimit'>,
  common: number,
): Promise<boolean> {
  const limit = credentialLimit ?? common
  const [keys = { live: 0, expired: 0 }] = await tx.query(COUNT, id)
  if (keys.expired > limit) {
    const oldest = (await tx.query(LONGEST_EXPIRED, id, Math.min(BATCH, keys.expired - limit))).map((row) => row.id)
    const ended = { actor: LIMIT, now: new Date(), action: 'credential.expired' as const }
    await revokeCredentials(tx, events, { id: { in: oldest } }, ended)
  }
  return keys.live < limit
}
