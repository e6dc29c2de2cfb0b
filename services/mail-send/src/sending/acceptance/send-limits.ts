import { type Queryable, sql } from '@restante/service/database'
import { type Charge, windowEnd } from '../checks/send-limit.ts'

type Values = [
  tiers: readonly string[],
  scopeIds: readonly string[],
  windows: readonly number[],
  starts: readonly string[],
]

const OF_CHARGES = `
  from unnest($1::text[], $2::uuid[], $3::int[], $4::timestamptz[]) with ordinality
       as charge(tier, scope_id, window_seconds, starts_at, position)`

const COUNT = sql<{ position: number; recipients: number }, Values>(`
select position::int as position, counted.recipients
${OF_CHARGES}
  join send_counts as counted using (tier, scope_id, window_seconds, starts_at)`)

// In one order for all messages, whatever limits each of them was admitted with: two of them never wait for each other in
// a circle.
const CHARGE = sql<
  { tier: string; window_seconds: number; recipients: number },
  [...Values, organizationId: string, recipients: number]
>(`
insert into send_counts as counted (tier, scope_id, window_seconds, starts_at, organization_id, recipients)
select tier, scope_id, window_seconds, starts_at, $5, $6
${OF_CHARGES}
 order by tier, scope_id, window_seconds
on conflict (tier, scope_id, window_seconds, starts_at) do update
   set recipients = counted.recipients + excluded.recipients
returning tier, window_seconds, recipients`)

/** The first limit that further recipients would exceed, by what is counted so far. */
export async function findExceeded(
  on: Queryable,
  charges: readonly Charge[],
  recipients: number,
  now: Date,
): Promise<Charge | undefined> {
  if (charges.length === 0) return undefined
  const rows = await on.query(COUNT, ...valuesOf(charges, now))
  const counted = new Map(rows.map((row) => [row.position - 1, row.recipients]))
  return charges.find((charge, index) => (counted.get(index) ?? 0) + recipients > charge.recipients)
}

/**
 * Counts recipients in the transaction that accepts the message.
 * @returns the first limit that they exceed: then the transaction must not commit.
 */
export async function chargeRecipients(
  on: Queryable,
  organizationId: string,
  charges: readonly Charge[],
  recipients: number,
  now: Date,
): Promise<Charge | undefined> {
  if (charges.length === 0) return undefined
  const rows = await on.query(CHARGE, ...valuesOf(charges, now), organizationId, recipients)
  const counted = new Map(rows.map((row) => [`${row.tier} ${row.window_seconds}`, row.recipients]))
  return charges.find(
    ({ tier, window_seconds, recipients: most }) => (counted.get(`${tier} ${window_seconds}`) ?? 0) > most,
  )
}

function valuesOf(charges: readonly Charge[], now: Date): Values {
  return [
    charges.map(({ tier }) => tier),
    charges.map(({ scopeId }) => scopeId),
    charges.map(({ window_seconds }) => window_seconds),
    charges.map((charge) => new Date(windowEnd(charge, now).getTime() - charge.window_seconds * 1_000).toISOString()),
  ]
}
