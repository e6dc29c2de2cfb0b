import type { Check, Finding } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'
import { invalid } from '@restante/service/errors'

/** What a relay that works has published long since. */
const BEHIND_SECONDS = 60
const PAGE = 100

const BEHIND = sql<{ waiting: number; seconds: number }>(`
select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::int as seconds
  from outbox
 where published_at is null and refused is null`)
const PARKED = sql<{ position: string; topic: string; type: string; refused: string }, [after: string, rows: number]>(`
select position, topic, type, refused
  from outbox
 where refused is not null and position > $1
 order by position
 limit $2`)
const TRY_AGAIN = sql<never, [positions: readonly string[]]>(
  'update outbox set refused = null where position = any($1::bigint[]) and refused is not null',
)

/**
 * Checks the outbox of a service: whether its events reach Kafka, and which of them Kafka rejects. A repair has these
 * published once more, which succeeds when what they were rejected for has been corrected.
 */
export function outboxCheck(db: Queryable): Check {
  return async ({ after, repair }) => {
    // The first page alone counts what is waiting: a repair adds to it what was parked.
    const [behind] = after === undefined ? await db.query(BEHIND) : []
    const { waiting, seconds } = behind ?? { waiting: 0, seconds: 0 }
    const parked = await db.query(PARKED, positionOf(after), PAGE)
    const last = parked.at(-1)
    if (repair && parked.length > 0)
      await db.query(
        TRY_AGAIN,
        parked.map(({ position }) => position),
      )
    const findings: Finding[] = parked.map(({ topic, type, refused }) => ({
      subject: `${topic} ${type}`,
      problem: `Kafka rejected an event: ${refused}`,
      state: repair ? 'repaired' : 'open',
      advice: 'correct what it names, then check with --repair, which has it published again',
    }))
    if (seconds > BEHIND_SECONDS)
      findings.unshift({
        subject: 'outbox',
        problem: `${waiting} events are not published, the oldest for ${seconds} s`,
        state: 'waiting',
        advice: 'they are published when Kafka can be reached',
      })
    return {
      examined: waiting + parked.length,
      findings,
      ...(last && parked.length === PAGE && { next: last.position }),
    }
  }
}

function positionOf(after = '0'): string {
  if (!/^\d{1,18}$/.test(after)) throw invalid(['after'], 'Not a position of this check')
  return after
}
