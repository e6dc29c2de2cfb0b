import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import type { Tx } from '../storage/database.ts'

type Limited = Omit<Extract<InternalResponseOf<'gateway.mintSignInKey'>, { outcome: 'limited' }>, 'outcome'>

/** Numbers of keys, and the seconds until the oldest of them counts no more. */
interface Counts {
  readonly pending: number
  readonly pending_for: number | null
  readonly of_creator: number
  readonly of_creator_for: number | null
  readonly of_organization: number
  readonly of_organization_for: number | null
}

const COUNTS = sql<Counts, [organizationId: string, createdBy: string]>(`
select p.pending, p.pending_for, c.of_creator, c.of_creator_for, o.of_organization, o.of_organization_for
  from (select count(*)::int as pending, extract(epoch from min(expires_at) - now())::float8 as pending_for
          from credentials
         where created_by = $2 and sign_in_status = 'pending' and expires_at > now()) p,
       (select count(*)::int as of_creator,
               extract(epoch from min(minted_at) + interval '1 hour' - now())::float8 as of_creator_for
          from counted_sign_in_keys
         where created_by = $2 and minted_at > now() - interval '1 hour') c,
       (select count(*)::int as of_organization,
               extract(epoch from min(minted_at) + interval '1 hour' - now())::float8 as of_organization_for
          from counted_sign_in_keys
         where organization_id = $1 and minted_at > now() - interval '1 hour') o`)

/**
 * The limit that one more sign-in key would exceed (apps 2, row 9). The caller holds the locks of the organization and of
 * the creator, so that the counts are exact.
 */
export async function exceededBy(tx: Tx, organizationId: string, createdBy: string): Promise<Limited | undefined> {
  const [counts] = await tx.query(COUNTS, organizationId, createdBy)
  if (counts === undefined) return undefined
  const { pendingKeys, keysPerHour } = LIMITS.app
  if (counts.pending >= pendingKeys) return limited('live_keys', counts.pending_for)
  if (counts.of_creator >= keysPerHour.credential) return limited('key_per_hour', counts.of_creator_for)
  if (counts.of_organization >= keysPerHour.organization) {
    return limited('organization_per_hour', counts.of_organization_for)
  }
  return undefined
}

function limited(by: Limited['by'], seconds: number | null): Limited {
  return { by, retry_after: wholeSeconds(seconds) }
}

function wholeSeconds(seconds: number | null): number {
  return Math.max(1, Math.ceil(seconds ?? 1))
}

const COUNT_MINTED = sql<{ counted: string }, [credentialId: string, organizationId: string, createdBy: string]>(`
insert into counted_sign_in_keys (credential_id, organization_id, created_by, minted_at) values ($1, $2, $3, now())
on conflict do nothing
returning credential_id as counted`)

/** @returns false when a key with this id was counted before. */
export async function countMinted(tx: Tx, request: InternalRequestOf<'gateway.mintSignInKey'>): Promise<boolean> {
  const { api_key_id, organization_id, created_by } = request
  const [counted] = await tx.query(COUNT_MINTED, api_key_id, organization_id, created_by)
  return counted !== undefined
}

const ACTIVATED = sql<{ today: number; next_day: number }, [createdBy: string]>(`
select count(*)::int as today,
       extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now())::float8 as next_day
  from counted_sign_in_keys
 where created_by = $1 and minted_at > now() - interval '2 days' and activated_at >= date_trunc('day', now(), 'UTC')`)

/** Seconds until one more key of a creator may be activated; undefined: now (apps 4). */
export async function activationDelay(tx: Tx, createdBy: string): Promise<number | undefined> {
  const [counts] = await tx.query(ACTIVATED, createdBy)
  if (counts === undefined || counts.today < LIMITS.app.activationsPerDay) return undefined
  return wholeSeconds(counts.next_day)
}

const COUNT_ACTIVATED = sql<never, [credentialId: string]>(
  'update counted_sign_in_keys set activated_at = now() where credential_id = $1',
)

export async function countActivated(tx: Tx, credentialId: string): Promise<void> {
  await tx.query(COUNT_ACTIVATED, credentialId)
}
