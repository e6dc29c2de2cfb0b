import { type Statement, sql } from '@restante/service/database'
import type { Timer } from './timer.ts'

/** A due timer, leased by the poller for the worker that will claim it. */
export interface LeasedTimer {
  readonly id: string
  readonly kind: string
  readonly attempt: number
  readonly lease: string
  readonly dueAt: Date
  /** Its place among the leased timers of its share. */
  readonly turn: number
}

/** A timer whose attempt has begun, with the lease that only this attempt knows. */
export type ClaimedTimer<Payload> = Timer<Payload> & { readonly lease: string }

/**
 * Inserts timers, or replaces those of the same kind and key; a running attempt of a replaced one loses its lease. A lease that
 * is given counts from the statement, as a transaction may have taken its time before.
 */
export const UPSERT_TIMERS = sql<
  { id: string; lease: string | null },
  [
    kinds: string[],
    keys: string[],
    dueAt: (string | null)[],
    payloads: string[],
    shares: number[],
    leases: (string | null)[],
    leaseMs: number,
  ]
>(`
  insert into timers (id, kind, key, due_at, payload, share, lease_id, leased_until)
  select gen_random_uuid(), kind, key, coalesce(due_at, date_trunc('milliseconds', now())), payload::jsonb, share, lease,
    case when lease is not null then clock_timestamp() + $7::int * interval '1 millisecond' end
  from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::smallint[], $6::uuid[])
    as given (kind, key, due_at, payload, share, lease)
  on conflict (kind, key) do update
  set due_at = excluded.due_at, payload = excluded.payload, share = excluded.share, attempt = 0,
    lease_id = excluded.lease_id, leased_until = excluded.leased_until
  returning id, lease_id as lease`)

/** Inserts a timer unless there is one of its kind and key, leased or not. */
export const INSERT_TIMER = sql<
  { id: string },
  [kind: string, key: string, dueAt: string | null, payload: string, share: number]
>(`
  insert into timers (id, kind, key, due_at, payload, share)
  values (gen_random_uuid(), $1, $2, coalesce($3::timestamptz, date_trunc('milliseconds', now())), $4::jsonb, $5)
  on conflict (kind, key) do nothing
  returning id`)

export const DELETE_TIMERS = sql<{ id: string }, [kind: string, keys: string[]]>(
  'delete from timers where kind = $1 and key = any($2::text[]) returning id',
)

/** Skips timers locked by a transaction: waiting for a running attempt could deadlock with it. */
export const DELETE_IDLE_TIMERS = sql<{ id: string }, [kind: string, keys: readonly string[]]>(`
  delete from timers
  where id = any(array(select id from timers where kind = $1 and key = any($2::text[]) for update skip locked))
  returning id`)

type Advancing = [kind: string, keys: readonly string[], dueTimes: readonly string[] | null]

/** Makes timers due that wait for their time, without those that are locked or leased: these are about to run. */
export const ADVANCE_TIMERS = sql<never, Advancing>(`
  update timers set due_at = now()
  where id = any(array(
    select id from timers
     where kind = $1 and key = any($2::text[]) and lease_id is null and due_at > now()
       and ($3::timestamptz[] is null or due_at = ($3::timestamptz[])[array_position($2::text[], key)])
    for update skip locked))`)

type Leasing = [kinds: string[], room: number[], shares: number[], leaseMs: number, takeOver: boolean]

/**
 * Leases due timers, up to `room` of each kind: of every share the longest due, in rotation; of several shares none gets
 * all of the room at once. Concurrent pollers skip each other's rows. `takeOver` says whether expired leases are taken
 * from their holders. The ids are an array, here and in others: a join may read a whole index (decision 110).
 */
export const LEASE_DUE = sql<LeasedTimer, Leasing>(`
  with locked as (
    select wanted.kind, wanted.room, found.id, found.due_at, found.turn
    from unnest($1::text[], $2::int[], $3::int[]) as wanted (kind, room, shares)
    cross join lateral generate_series(0, wanted.shares - 1) as part (number)
    cross join lateral (
      select id, due_at, (row_number() over (order by due_at))::int as turn
      from (
        select id, due_at from timers
        where kind = wanted.kind and share = part.number and due_at <= now()
          and (leased_until is null or ($5::boolean and leased_until <= now()))
        order by due_at
        limit case when wanted.shares = 1 then wanted.room else least(wanted.room, greatest(10, wanted.room / 4)) end
        for update skip locked
      ) as first
    ) as found
  ), due as (
    select id, turn
    from (select *, row_number() over (partition by kind order by turn, due_at) as place from locked) as placed
    where place <= room
  )
  update timers
  set lease_id = gen_random_uuid(), leased_until = now() + $4::int * interval '1 millisecond'
  where id = any(array(select id from due))
  returning id, kind, attempt, lease_id as lease, due_at as "dueAt", (select turn from due where due.id = timers.id) as turn`)

/**
 * Extends the leases of timers that wait in the queue; timers whose attempt has begun have another lease by now. A timer
 * that is locked is being claimed or changed, which also ends its wait in the queue.
 */
export const KEEP_LEASES = sql<never, [ids: string[], leases: string[], leaseMs: number]>(`
  with waiting as (
    select timers.id from timers join unnest($1::uuid[], $2::uuid[]) as queued (id, lease) on timers.id = any(array[queued.id])
    where lease_id = queued.lease
    for update of timers skip locked
  )
  update timers set leased_until = now() + $3::int * interval '1 millisecond'
  where id = any(array(select id from waiting))`)

/** Releases leases of timers that are in no queue, without those that are locked: see `claimTimers`. */
export const RELEASE_LEASES = sql<never, [ids: string[], leases: string[]]>(`
  with held as (
    select id from timers where id = any($1::uuid[]) and lease_id = any($2::uuid[]) for update skip locked
  )
  update timers set lease_id = null, leased_until = null where id = any(array(select id from held))`)

/**
 * Begins an attempt: counts it, and changes the lease, so that the same job delivered twice begins one attempt. A lease
 * that ran out in the queue is still valid as long as the timer was not leased again.
 */
export function claimTimer<Payload>(): Statement<ClaimedTimer<Payload>, [id: string, lease: string, leaseMs: number]> {
  return sql(`
    update timers
    set lease_id = gen_random_uuid(), leased_until = now() + $3::int * interval '1 millisecond', attempt = attempt + 1
    where id = $1 and lease_id = $2
    returning id, kind, key, due_at as "dueAt", attempt, payload, share, lease_id as lease`)
}

/**
 * Begins the attempts of many timers. It skips timers that are locked: statements that wait for several locks could wait
 * for each other.
 */
export function claimTimers<Payload>(): Statement<
  ClaimedTimer<Payload>,
  [ids: readonly string[], leases: readonly string[], leaseMs: number]
> {
  return sql(`
    with held as (
      select id from timers where id = any($1::uuid[]) and lease_id = any($2::uuid[]) for update skip locked
    )
    update timers
    set lease_id = gen_random_uuid(), leased_until = now() + $3::int * interval '1 millisecond', attempt = attempt + 1
    where id = any(array(select id from held))
    returning id, kind, key, due_at as "dueAt", attempt, payload, share, lease_id as lease`)
}

/**
 * Locks timers for the rest of the transaction, if their attempts still have their leases, which are unique. A lease tells
 * an attempt from an earlier one at the same timer.
 */
export const LOCK_TIMERS = sql<{ id: string; lease: string }, [ids: readonly string[], leases: readonly string[]]>(`
  select id, lease_id as lease from timers
  where id = any($1::uuid[]) and lease_id = any($2::uuid[]) for update skip locked`)

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

export const COMPLETE_TIMERS = sql<never, [ids: readonly string[], leases: readonly string[]]>(
  'delete from timers where id = any($1::uuid[]) and lease_id = any($2::uuid[])',
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

/** Postpones many timers, without those that are locked: see `claimTimers`. */
export const POSTPONE_TIMERS = sql<
  { lease: string },
  [ids: readonly string[], leases: readonly string[], dueAt: readonly string[]]
>(`
  with held as materialized (
    select id, lease_id as lease from timers
    where id = any($1::uuid[]) and lease_id = any($2::uuid[]) for update skip locked
  )
  update timers
  set due_at = ($3::timestamptz[])[array_position($2::uuid[], held.lease)], lease_id = null, leased_until = null
  from held
  where timers.id = any(array(select id from held)) and timers.id = held.id
  returning held.lease`)

/**
 * Due timers whose first attempt has not begun, among the newest `most` that are due: of a kind whose timers are postponed a lot,
 * more than these would be read for nothing.
 */
export const COUNT_UNBEGUN = sql<{ count: number }, [kind: string, most: number]>(`
  select count(*)::int as count
  from (select attempt from timers where kind = $1 and due_at <= now() order by due_at desc limit $2) as newest
  where attempt = 0`)

/** The delay in seconds of the timer that has been due longest among those without a valid lease. */
export const MEASURE_LAG = sql<{ kind: string; seconds: number }, [kinds: string[]]>(`
  select kind, extract(epoch from now() - min(due_at))::float8 as seconds
  from timers
  where kind = any($1::text[]) and due_at <= now() and (leased_until is null or leased_until <= now())
  group by kind`)
