import type { Queryable } from '@restante/service/database'
import type { Position } from '@restante/service/http'
import { bodyScore, type Parameters, type Place } from './conditions.ts'
import type { SearchedWord } from './search-query.ts'

/** A message that matches every word, as far as the index tells. */
export interface Candidate {
  readonly id: string
  readonly thread_id: string
  readonly timestamp: Date
  /** Weights of the fields that the words matched: subject, then sender or recipient, then body. */
  readonly score: number
}

/** The place of a result: its score, then its time, ties by id. */
export interface RankedPosition extends Pick<Position, 'time' | 'id'> {
  readonly score: number
  /** The oldest place from which results are ranked by sender, recipients and subject; undefined: all are. */
  readonly rankedFrom: Place | undefined
}

/** Which results are wanted. */
export interface Wanted {
  /** What a result is: a message, or a thread, which is represented by its best message. */
  readonly result: 'id' | 'thread_id'
  /** The last result of the page before. */
  readonly after: RankedPosition | undefined
  readonly most: number
}

/** The matches among some messages. */
export interface Compared {
  /** The best results after the position, in any order. */
  readonly best: readonly Candidate[]
  /** Numbers of messages, those up to the position included. */
  readonly matched: number
  readonly inHeaders: number
}

type Row = Candidate & { readonly matched: number; readonly in_headers: number }

/** Finds the best results of a statement that selects candidates. */
export async function compare(
  db: Queryable,
  candidates: string,
  { result, after, most }: Wanted,
  words: readonly SearchedWord[],
  parameters: Parameters,
): Promise<Compared> {
  const order = 'score desc, "timestamp" desc'
  const results =
    result === 'id'
      ? 'candidates'
      : `(select distinct on (thread_id) * from candidates order by thread_id, ${order}, id desc) as threads`
  const place = after && ranked(after, parameters)
  // Materialized, because the planner expects to meet enough matches in the order of time, which it does not.
  const rows = await parameters.query<Row | (Row & { readonly id: null })>(
    db,
    `with candidates as materialized (${candidates}),
best as (
  select * from ${results} ${place ? `where (score, "timestamp", ${result}) < ${place}` : ''}
   order by ${order}, ${result} desc limit ${most})
select matched, in_headers, best.*
  from (select count(*)::int as matched, (count(*) filter (where score > ${bodyScore(words)}))::int as in_headers
          from candidates) as counts
       left join best on true`,
  )
  const [counts] = rows
  return {
    best: rows.filter(({ id }) => id !== null),
    matched: counts?.matched ?? 0,
    inHeaders: counts?.in_headers ?? 0,
  }
}

/** A position as a value that is compared with a row's score, time and id. */
export function ranked({ score, time, id }: RankedPosition, parameters: Parameters): string {
  const [rank, timestamp, tie] = [parameters.add(score), parameters.add(time.toISOString()), parameters.add(id)]
  return `(${rank}::int, ${timestamp}::timestamptz, ${tie}::uuid)`
}

/** The best candidates, each message or thread once, best first: by score, then the newest, ties by id. */
export function bestOf(candidates: readonly Candidate[], { result, most }: Wanted): Candidate[] {
  const id = (candidate: Candidate) => candidate[result]
  const byRank = (a: Candidate, b: Candidate) =>
    b.score - a.score || b.timestamp.getTime() - a.timestamp.getTime() || (id(a) < id(b) ? 1 : -1)
  const found = new Set<string>()
  return candidates
    .toSorted(byRank)
    .filter((candidate) => found.size < found.add(id(candidate)).size)
    .slice(0, most)
}
