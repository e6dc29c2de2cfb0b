import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import type { HeaderMap } from '../kafka/envelope.ts'

/** Session-level advisory lock of the leading relay; each service has its own database, and so its own lock. */
const LEADER = 5_291_704_338

export const LEAD = sql<{ leads: boolean }>(`select pg_try_advisory_lock(${LEADER}) as leads`)

export interface OutboxRow {
  /** bigint, which `pg` returns as text. */
  readonly position: string
  readonly id: string
  readonly topic: string
  readonly key: string
  readonly type: string
  readonly headers: HeaderMap
  readonly payload: string
}

/**
 * The next events in order, until they fill one request. Selected as unpublished, never by a watermark: a transaction
 * that commits late brings a position below already published ones.
 */
export const NEXT = sql<OutboxRow, [pausedTopics: readonly string[], rows: number, bytes: number]>(`
select position, id, topic, key, type, headers, payload
  from (select position, id, topic, key, type, headers, payload,
               sum(octet_length(payload) + 1024) over (order by position) - octet_length(payload) as preceding
          from (select position, id, topic, key, type, headers, payload
                  from outbox
                 where published_at is null and refused is null and topic <> all($1::text[])
                 order by position
                 limit $2) as candidate) as sized
 where preceding <= $3
 order by position`)

export const PUBLISHED = sql<never, [positions: readonly string[]]>(
  'update outbox set published_at = now() where position = any($1::bigint[])',
)

export const REFUSED = sql<never, [position: string, reason: string]>(
  'update outbox set refused = $2 where position = $1::bigint',
)

const KEPT_SECONDS = LIMITS.retention.outbox / 1_000
const REFUSED_SECONDS = LIMITS.retention.deadLetter / 1_000

/** Published events are kept for an hour, for investigations; refused ones as long as dead letters. */
export const DELETE_OLD = sql<{ position: string }, [rows: number]>(`
delete from outbox
 where position in ((select position from outbox
                      where published_at < now() - interval '${KEPT_SECONDS} seconds'
                      order by published_at
                      limit $1)
                    union all
                    (select position from outbox
                      where published_at is null and refused is not null
                        and created_at < now() - interval '${REFUSED_SECONDS} seconds'
                      limit $1))
returning position`)

export const BACKLOG = sql<{ waiting: number; lag: number; parked: number }>(`
select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as lag,
       (select count(*)::int from (select from outbox
                                    where published_at is null and refused is not null limit 10000) as refused) as parked
  from (select created_at from outbox
         where published_at is null and refused is null
         order by position limit 10000) as unpublished`)
