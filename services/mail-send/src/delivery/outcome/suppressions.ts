import { LIMITS } from '@restante/contracts/vocabulary'
import { type BounceClass, normalizeAddress } from '@restante/mime'
import { type Queryable, sql } from '@restante/service/database'
import type { SendRecord } from '../outbound/sends.ts'

/** Why the service itself suppresses an address (mail 12.3). */
export const SUPPRESSION_REASONS = ['bounced', 'complained'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

const ADD = sql<never, [organizationId: string, address: string, reason: string]>(`
insert into suppressions as held (organization_id, address, reason) values ($1, $2, $3)
on conflict (organization_id, address) do update set reason = excluded.reason
 where excluded.reason = 'complained' and held.reason <> excluded.reason`)

/** How long a refusal counts as the first of two (events 1.3). */
const REFUSAL_SECONDS = LIMITS.retention.refusal / 1_000

type Refusal = [organizationId: string, address: string, sendId: string]

// The first refusal stays; one that counts no more is replaced.
const REMEMBER = sql<never, Refusal>(`
insert into refusals as first (organization_id, address, send_id) values ($1, $2, $3)
on conflict (organization_id, address) do update set send_id = excluded.send_id, refused_at = now()
 where first.refused_at <= now() - interval '${REFUSAL_SECONDS} seconds'`)

const ANOTHER = sql<{ address: string }, Refusal>(
  'select address from refusals where organization_id = $1 and address = $2 and send_id <> $3',
)

/** Refusals that count no more. */
export const FORGET_REFUSALS = `delete from refusals where (organization_id, address) in (select organization_id, address from refusals
    where refused_at <= now() - interval '${REFUSAL_SECONDS} seconds' limit $1)
   returning 1 as one`

const FIND = sql<{ address: string; reason: string }, [organizationId: string, addresses: readonly string[]]>(
  'select address, reason from suppressions where organization_id = $1 and address = any($2::text[])',
)

/**
 * Suppresses an address for an organization, permanently: a read-only entry of its `send`/`block` list (mail 12.3). A
 * complaint outranks a bounce, whichever came first.
 * @param address in normalized form.
 */
export async function suppress(
  on: Queryable,
  organizationId: string,
  address: string,
  reason: SuppressionReason,
): Promise<void> {
  await on.query(ADD, organizationId, address, reason)
}

/**
 * Suppresses the recipient of a bounce as far as its class says so: at once, or when another message to the address was
 * refused for the same general reason within 30 days. That a message is refused again, or reported again, counts once.
 */
export async function suppressBounced(
  on: Queryable,
  { id: sendId, origin }: Pick<SendRecord, 'id' | 'origin'>,
  recipient: string,
  bounce: BounceClass,
): Promise<void> {
  if (origin.kind === 'system' || bounce.suppress === 'never') return
  const { organizationId } = origin
  const address = normalizeAddress(recipient)
  if (bounce.suppress === 'at_second') {
    await on.query(REMEMBER, organizationId, address, sendId)
    // Its own statement sees what another transaction has remembered while this one waited for it.
    if ((await on.query(ANOTHER, organizationId, address, sendId)).length === 0) return
  }
  await suppress(on, organizationId, address, 'bounced')
}

/** Which of these addresses (normalized) the organization cannot mail, with the reason. */
export async function findSuppressed(
  on: Queryable,
  organizationId: string,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const rows = await on.query(FIND, organizationId, addresses)
  return new Map(rows.map(({ address, reason }) => [address, reason]))
}
