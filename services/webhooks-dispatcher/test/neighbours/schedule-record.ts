import { type Database, sql, sqlUnprepared } from '@restante/service/database'

const CREATE = [
  `create table scheduled (
     webhook_id text, failures int, failed_at timestamptz, next_attempt_at timestamptz, noted_at timestamptz default clock_timestamp())`,
  `create function note_scheduled() returns trigger language plpgsql as $$
   begin
     insert into scheduled (webhook_id, failures, failed_at, next_attempt_at)
     values (new.webhook_id, jsonb_array_length(new.attempts),
       (new.attempts -> -1 ->> 'attempted_at')::timestamptz + (new.attempts -> -1 ->> 'latency_ms')::int * interval '1 millisecond',
       new.next_attempt_at);
     return null;
   end $$`,
  `create trigger note_scheduled after insert or update on delivery_log
   for each row when (new.state = 'retrying') execute function note_scheduled()`,
].map((text) => sqlUnprepared<unknown>(text))

/** The waits that one webhook's deliveries were given after the same number of failures, in milliseconds. */
export interface Waits {
  readonly failures: number
  readonly count: number
  /** From the end of the request that failed to the next attempt: the least. */
  readonly fromFailure: number
  /** From when the next attempt was recorded, which is later, to that attempt: the least and the most. */
  readonly least: number
  readonly most: number
}

const SELECT_WAITS = sql<Waits, [webhookId: string]>(`
  select failures, count(*)::int as count,
    min(extract(epoch from next_attempt_at - failed_at) * 1000)::float8 as "fromFailure",
    min(extract(epoch from next_attempt_at - noted_at) * 1000)::float8 as least,
    max(extract(epoch from next_attempt_at - noted_at) * 1000)::float8 as most
  from scheduled where webhook_id = $1 group by failures order by failures`)

/** Records, in the transaction of each failed attempt, when the next one is to be made: the log itself keeps only the last. */
export async function recordSchedule(db: Database): Promise<void> {
  for (const statement of CREATE) await db.query(statement)
}

export function waitsOf(db: Database, webhookId: string): Promise<Waits[]> {
  return db.query(SELECT_WAITS, webhookId)
}
