import { countedOutside, type EventOf, type ReputationCounts, type topics } from '@restante/contracts/events'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { holdScopes } from '@restante/tenancy'

type DeliveryEvent = EventOf<(typeof topics)['mail.deliveries']>

/** Rows that the outcomes of one hour of an organization are divided between: they seldom wait for each other. */
const SLOTS = 4

// Organizations in one order: two transactions that count for the same ones never wait for each other in a circle.
const COUNT = sql<
  never,
  [
    organizationIds: readonly string[],
    slot: number,
    sent: readonly number[],
    bounced: readonly number[],
    complained: readonly number[],
  ]
>(`
insert into reputation_counts as counted (organization_id, hour, slot, sent, bounced, complained)
select organization_id, date_trunc('hour', now()), $2, sent, bounced, complained
  from unnest($1::uuid[], $3::int[], $4::int[], $5::int[]) as given (organization_id, sent, bounced, complained)
 order by organization_id
on conflict (organization_id, hour, slot) do update
   set sent = counted.sent + excluded.sent, bounced = counted.bounced + excluded.bounced,
       complained = counted.complained + excluded.complained`)

const OF_A_DAY = sql<
  { organization_id: string; sent: number; bounced: number; complained: number; reset_at: Date | null },
  [minimum: number]
>(`
select organization_id, sum(sent)::int as sent, sum(bounced)::int as bounced, sum(complained)::int as complained,
       (select reset_at from reputations r where r.organization_id = c.organization_id) as reset_at
  from reputation_counts c
 where hour > now() - interval '24 hours'
 group by organization_id
having greatest(sum(sent), sum(bounced)) >= $1 and sum(bounced) + sum(complained) > 0`)

const WARN = sql<{ organization_id: string }, [organizationId: string]>(`
insert into reputations as known (organization_id, warned_at) values ($1, now())
on conflict (organization_id) do update set warned_at = now()
 where known.warned_at is null or known.warned_at <= now() - interval '24 hours'
returning organization_id`)

const RESET = sql<never, [organizationId: string, at: string]>(`
insert into reputations (organization_id, reset_at) values ($1, $2)
on conflict (organization_id) do update set reset_at = excluded.reset_at, warned_at = null`)
const FORGET_COUNTS = sql<never, [organizationId: string]>('delete from reputation_counts where organization_id = $1')

/** Rows that are about more than a day ago. */
export const FORGET_REPUTATIONS = [
  `delete from reputation_counts where ctid = any(array(
    select ctid from reputation_counts where hour < now() - interval '25 hours' limit $1)) returning 1 as one`,
  `delete from reputations where organization_id in (select organization_id from reputations
    where greatest(warned_at, reset_at) < now() - interval '25 hours' limit $1) returning 1 as one`,
]
/** Rows of a deleted organization. */
export const DELETE_REPUTATION_OF_ORGANIZATION = ['reputation_counts', 'reputations'].map(
  (table) => `delete from ${table} where ctid = any(array(
    select ctid from ${table} where organization_id = $1 limit $2)) returning 1 as one`,
)

/** What an organization has sent within a day. */
export interface DayOfOrganization extends ReputationCounts {
  readonly organizationId: string
  /** When the operator last resumed it, as far as counts were deleted for that. */
  readonly resetAt: Date | undefined
}

/** Counts facts about the mail of organizations, in the transaction that publishes them. */
export async function countFacts(tx: Tx, events: readonly DeliveryEvent[]): Promise<void> {
  const sums = [...Map.groupBy(events, ({ payload }) => payload.organization_id)].map(([organizationId, own]) => {
    const counts = own.map(countedOutside)
    const sum = (of: keyof ReputationCounts) => counts.reduce((total, one) => total + one[of], 0)
    return { organizationId, sent: sum('sent'), bounced: sum('bounced'), complained: sum('complained') }
  })
  const counted = sums.filter(({ sent, bounced, complained }) => sent + bounced + complained > 0)
  if (counted.length === 0) return
  await tx.query(
    COUNT,
    counted.map(({ organizationId }) => organizationId),
    Math.floor(Math.random() * SLOTS),
    counted.map(({ sent }) => sent),
    counted.map(({ bounced }) => bounced),
    counted.map(({ complained }) => complained),
  )
}

/** The organizations that have sent at least this much within a day, and got something back. */
export async function daysOfOrganizations(on: Queryable, minimum: number): Promise<DayOfOrganization[]> {
  const rows = await on.query(OF_A_DAY, minimum)
  return rows.map(({ organization_id: organizationId, reset_at, ...counts }) => ({
    ...counts,
    organizationId,
    resetAt: reset_at ?? undefined,
  }))
}

/** @returns whether the organization was not warned about for a day, and is not deleted. */
export async function markWarned(tx: Tx, organizationId: string): Promise<boolean> {
  if (!(await holdScopes(tx, [organizationId]))) return false
  return (await tx.query(WARN, organizationId)).length > 0
}

/** Deletes the counts of an organization that the operator has resumed, and remembers when that was. */
export async function resetCounts(tx: Tx, organizationId: string, resumedAt: string): Promise<void> {
  if (!(await holdScopes(tx, [organizationId]))) return
  await tx.query(FORGET_COUNTS, organizationId)
  await tx.query(RESET, organizationId, resumedAt)
}
