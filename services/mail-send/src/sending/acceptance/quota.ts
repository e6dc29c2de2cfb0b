import { type Queryable, sql } from '@restante/service/database'

const COUNT = sql<{ recipients: number }, [organizationId: string]>(`
select recipients from daily_counts where organization_id = $1 and day = (now() at time zone 'utc')::date`)

const CHARGE = sql<{ recipients: number }, [organizationId: string, recipients: number, limit: number]>(`
insert into daily_counts as counted (organization_id, day, recipients)
select $1, (now() at time zone 'utc')::date, $2::int where $2::int <= $3::int
on conflict (organization_id, day) do update
   set recipients = counted.recipients + excluded.recipients
 where counted.recipients + excluded.recipients <= $3::int
returning recipients`)

/** Number of recipients that the organization has mailed today (UTC). */
export async function countToday(on: Queryable, organizationId: string): Promise<number> {
  const [row] = await on.query(COUNT, organizationId)
  return row?.recipients ?? 0
}

/** Counts recipients in the transaction that accepts the message. @returns whether they were within the limit. */
export async function chargeToday(
  on: Queryable,
  organizationId: string,
  recipients: number,
  limit: number,
): Promise<boolean> {
  return (await on.query(CHARGE, organizationId, recipients, limit)).length > 0
}
