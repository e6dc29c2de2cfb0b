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

/** The oldest of the messages that are compared one by one. */
export interface Edge extends Place {
  /** Times of the newest and the oldest message of the scope. */
  readonly newest: Date
  readonly oldest: Date
}

/** The matches among some messages. */
export interface Compared {
  /** The best results after the position, in any order. */
  readonly best: readonly Candidate[]
  /** Numbers of messages, those up to the position included. */
  readonly matched: number
  readonly inHeaders: number
  /** The row of the statement that selects the edge, if it has one. */
  readonly edge: Edge | undefined
}

/** How messages are compared. */
export interface Comparing {
  /** A statement that selects the messages that match, each with its score. */
  readonly candidates: string
  /** The most candidates, of which any are taken. Default: all. */
  readonly limit?: number
  /** A statement that selects the columns of an edge. It is executed at the same moment. */
  readonly edge?: string
  readonly wanted: Wanted
  readonly words: readonly SearchedWord[]
  /** The values of all of it. */
  readonly parameters: Parameters
}

type EdgeColumns = Readonly<Record<'edge_timestamp' | 'newest' | 'oldest', Date>> & { readonly edge_id: string }
type NullsOf<Row> = { readonly [Column in keyof Row]: null }
type Row = { readonly matched: number; readonly in_headers: number } & (Candidate | NullsOf<Candidate>) &
  (EdgeColumns | NullsOf<EdgeColumns>)

const NO_EDGE = `select where false`

/** Finds the best results among candidates. */
export async function compare(db: Queryable, comparing: Comparing): Promise<Compared> {
  const { candidates, limit, edge = NO_EDGE, words, parameters } = comparing
  const { result, after, most } = comparing.wanted
  const order = 'score desc, "timestamp" desc'
  const results =
    result === 'id'
      ? 'candidates'
      : `(select distinct on (thread_id) * from candidates order by thread_id, ${order}, id desc) as threads`
  const place = after && ranked(after, parameters)
  // Materialized, because the planner expects to meet enough matches in the order of time, or within the limit, which it
  // does not.
  const rows = await parameters.query<Row>(
    db,
    `with matches as materialized (${candidates}),
candidates as materialized (select * from matches limit ${limit ?? 'all'}),
best as (
  select * from ${results} ${place ? `where (score, "timestamp", ${result}) < ${place}` : ''}
   order by ${order}, ${result} desc limit ${most})
select matched, in_headers, edge.*, best.*
  from (select count(*)::int as matched, (count(*) filter (where score > ${bodyScore(words)}))::int as in_headers
          from candidates) as counts
       left join (${edge}) as edge on true
       left join best on true`,
  )
  const [first] = rows
  return {
    best: rows.filter((row) => row.id !== null),
    matched: first?.matched ?? 0,
    inHeaders: first?.in_headers ?? 0,
    edge: first && edgeIn(first),
  }
}

function edgeIn({ edge_timestamp: timestamp, edge_id: id, newest, oldest }: Row): Edge | undefined {
  return id && timestamp && newest && oldest ? { timestamp, id, newest, oldest } : undefined
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
