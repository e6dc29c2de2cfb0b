import { type Statement, sql } from '@restante/service/database'
import type { Timer } from './timer.ts'

/** A due timer, leased by the poller for the worker that will claim it. */
export interface LeasedTimer {
  readonly id: string
  readonly kind: string
  readonly attempt: number
  readonly lease: string
  readonly dueAt: Date
}

/** A timer whose attempt has begun, with the lease that only this attempt knows. */
export type ClaimedTimer<Payload> = Timer<Payload> & { readonly lease: string }

/** Inserts timers, or replaces those of the same kind and key; a running attempt of a replaced one loses its lease. */
export const UPSERT_TIMERS = sql<
  { id: string },
  [kinds: string[], keys: string[], dueAt: (string | null)[], payloads: string[]]
>(`
  insert into timers (id, kind, key, due_at, payload)
  select gen_random_uuid(), kind, key, coalesce(due_at, date_trunc('milliseconds', now())), payload::jsonb
  from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[]) as given (kind, key, due_at, payload)
  on conflict (kind, key) do update
  set due_at = excluded.due_at, payload = excluded.payload, attempt = 0, lease_id = null, leased_until = null
  returning id`)

/** Inserts a timer unless there is one of its kind and key, leased or not. */
export const INSERT_TIMER = sql<{ id: string }, [kind: string, key: string, dueAt: string | null, payload: string]>(`
  insert into timers (id, kind, key, due_at, payload)
  values (gen_random_uuid(), $1, $2, coalesce($3::timestamptz, date_trunc('milliseconds', now())), $4::jsonb)
  on conflict (kind, key) do nothing
  returning id`)

export const DELETE_TIMERS = sql<{ id: string }, [kind: string, keys: string[]]>(
  'delete from timers where kind = $1 and key = any($2::text[]) returning id',
)

/** Skips timers locked by a transaction: waiting for a running attempt could deadlock with it. */
export const DELETE_IDLE_TIMERS = sql<{ id: string }, [kind: string, keys: readonly string[]]>(`
  delete from timers
  where id in (select id from timers where kind = $1 and key = any($2::text[]) for update skip locked)
  returning id`)

/**
 * Leases due timers, the longest due first, up to `room` of each kind. Concurrent pollers skip each other's rows.
 * `takeOver` says whether expired leases are taken from their holders.
 */
export const LEASE_DUE = sql<LeasedTimer, [kinds: string[], room: number[], leaseMs: number, takeOver: boolean]>(`
  with due as (
    select found.id
    from unnest($1::text[], $2::int[]) as wanted (kind, room)
    cross join lateral (
      select id from timers
      where kind = wanted.kind and due_at <= now() and (leased_until is null or ($4::boolean and leased_until <= now()))
      order by due_at
      limit wanted.room
      for update skip locked
    ) as found
  )
  update timers
  set lease_id = gen_random_uuid(), leased_until = now() + $3::int * interval '1 millisecond'
  from due
  where timers.id = due.id
  returning timers.id, kind, attempt, lease_id as lease, due_at as "dueAt"`)

/** Extends the leases of timers that wait in the queue; timers whose attempt has begun have another lease by now. */
export const KEEP_LEASES = sql<never, [ids: string[], leases: string[], leaseMs: number]>(`
  update timers set leased_until = now() + $3::int * interval '1 millisecond'
  from unnest($1::uuid[], $2::uuid[]) as waiting (id, lease)
  where timers.id = waiting.id and timers.lease_id = waiting.lease`)

/** Releases leases for which no job was added. */
export const RELEASE_LEASES = sql<{ id: string }, [leases: string[]]>(
  'update timers set lease_id = null, leased_until = null where lease_id = any($1::uuid[]) returning id',
)

/**
 * Begins an attempt: counts it, and changes the lease, so that the same job delivered twice begins one attempt. A lease
 * that ran out in the queue is still valid as long as the timer was not leased again.
 */
export function claimTimer<Payload>(): Statement<ClaimedTimer<Payload>, [id: string, lease: string, leaseMs: number]> {
  return sql(`
    update timers
    set lease_id = gen_random_uuid(), leased_until = now() + $3::int * interval '1 millisecond', attempt = attempt + 1
    where id = $1 and lease_id = $2
    returning id, kind, key, due_at as "dueAt", attempt, payload, lease_id as lease`)
}

/** Locks the timer for the rest of the transaction, if this attempt still has its lease. */
export const LOCK_TIMER = sql<{ id: string }, [id: string, lease: string]>(
  'select id from timers where id = $1 and lease_id = $2 for update',
)

/** Extends a running attempt's lease. No row is returned when the attempt has lost it. */
export const RENEW_LEASE = sql<{ id: string }, [id: string, lease: string, leaseMs: number]>(`
  update timers set leased_until = now() + $3::int * interval '1 millisecond'
  where id = $1 and lease_id = $2
  returning id`)

export const COMPLETE_TIMER = sql<{ id: string }, [id: string, lease: string]>(
  'delete from timers where id = $1 and lease_id = $2 returning id',
)

/** Postpones the timer to its next attempt; the attempts so far stay counted. */
export const POSTPONE_TIMER = sql<
  { id: string },
  [id: string, lease: string, dueAt: string | null, payload: string | null]
>(`
  update timers
  set due_at = coalesce($3::timestamptz, due_at), payload = coalesce($4::jsonb, payload),
      lease_id = null, leased_until = null
  where id = $1 and lease_id = $2
  returning id`)

/** The delay in seconds of the timer that has been due longest among those without a valid lease. */
export const MEASURE_LAG = sql<{ kind: string; seconds: number }, [kinds: string[]]>(`
  select kind, extract(epoch from now() - min(due_at))::float8 as seconds
  from timers
  where kind = any($1::text[]) and due_at <= now() and (leased_until is null or leased_until <= now())
  group by kind`)
