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

// In one order for all messages, whatever limits each of them was admitted with: two transactions never wait for each
// other in a circle.
const CHARGE = sql<
  { tier: string; scope_id: string; window_seconds: number; recipients: number },
  [...Values, organizationIds: readonly string[], recipients: readonly number[]]
>(`
insert into send_counts as counted (tier, scope_id, window_seconds, starts_at, organization_id, recipients)
select tier, scope_id, window_seconds, starts_at, organization_id, sum(recipients)::int
  from unnest($1::text[], $2::uuid[], $3::int[], $4::timestamptz[], $5::uuid[], $6::int[])
       as charge(tier, scope_id, window_seconds, starts_at, organization_id, recipients)
 group by tier, scope_id, window_seconds, starts_at, organization_id
 order by tier, scope_id, window_seconds
on conflict (tier, scope_id, window_seconds, starts_at) do update
   set recipients = counted.recipients + excluded.recipients
returning tier, scope_id, window_seconds, recipients`)

/** What one message counts against. */
export interface Charged {
  readonly organizationId: string
  readonly charges: readonly Charge[]
  readonly recipients: number
}

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
 * Counts the recipients of messages in the transaction that accepts them.
 * @returns a limit that they exceed together: then the transaction must not commit.
 */
export async function chargeRecipients(
  on: Queryable,
  messages: readonly Charged[],
  now: Date,
): Promise<Charge | undefined> {
  const all = messages.flatMap((message) => message.charges.map((charge) => ({ ...message, charge })))
  if (all.length === 0) return undefined
  const charges = all.map(({ charge }) => charge)
  const rows = await on.query(
    CHARGE,
    ...valuesOf(charges, now),
    all.map(({ organizationId }) => organizationId),
    all.map(({ recipients }) => recipients),
  )
  const keyOf = (tier: string, scopeId: string, seconds: number) => `${tier} ${scopeId} ${seconds}`
  const counted = new Map(rows.map((row) => [keyOf(row.tier, row.scope_id, row.window_seconds), row.recipients]))
  return charges.find(
    ({ tier, scopeId, window_seconds, recipients: most }) =>
      (counted.get(keyOf(tier, scopeId, window_seconds)) ?? 0) > most,
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
