import { type Queryable, sql } from '@restante/service/database'

/** Why the service itself suppresses an address (mail 12.3). */
export const SUPPRESSION_REASONS = ['bounced', 'complained'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

const ADD = sql<never, [organizationId: string, address: string, reason: string]>(`
insert into suppressions as held (organization_id, address, reason) values ($1, $2, $3)
on conflict (organization_id, address) do update set reason = excluded.reason
 where excluded.reason = 'complained' and held.reason <> excluded.reason`)

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

/** Which of these addresses (normalized) the organization cannot mail, with the reason. */
export async function findSuppressed(
  on: Queryable,
  organizationId: string,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const rows = await on.query(FIND, organizationId, addresses)
  return new Map(rows.map(({ address, reason }) => [address, reason]))
}
