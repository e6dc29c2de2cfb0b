import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sqlUnprepared } from '@restante/service/database'
import type { ScopeFilter } from '@restante/service/identity'
import { periodsBetween } from '../indexing/period.ts'
import type { SearchedWord } from './search-query.ts'

/** A message that matches every word, as far as the index tells. */
export interface Candidate {
  readonly id: string
  readonly thread_id: string
  readonly timestamp: Date
  /** Weights of the fields that the words matched: subject, then sender or recipient, then body. */
  readonly score: number
}

export interface SearchedScope {
  readonly scope: ScopeFilter
  readonly words: readonly SearchedWord[]
  /** Strict bounds of the message's time. */
  readonly before?: Date | undefined
  readonly after?: Date | undefined
}

interface Edge {
  readonly timestamp: Date
  readonly id: string
  /** Time of the newest message. */
  readonly newest: Date
}

/** The newest messages of the scope, which are compared one by one: searches of the most frequent words end there. */
const COMPARED = 2_000
/** From this share of matches among them on, older messages are compared one by one, too: an index would not be faster. */
const FREQUENT = 0.2
/** How much longer than expected the time is in which older messages are looked up, and how much it grows when it was too short. */
const MARGIN = 1.5
const GROWTH = 8
/** Messages that arrived at once have no time between them. */
const SHORTEST_MS = 60_000
const WEIGHT = { subject: 4, people: 2, body: 1 }

/** The newest messages that match every word, at most `LIMITS.search.ranked`. */
export async function findCandidates(db: Queryable, searched: SearchedScope): Promise<Candidate[]> {
  const { ranked } = LIMITS.search
  const [edge, recent] = await Promise.all([findEdge(db, searched), compareNewest(db, searched)])
  if (edge === undefined || recent.length >= ranked) return recent
  return [...recent, ...(await findOlder(db, searched, edge, recent.length))]
}

/**
 * Older messages, from the index. A frequent word is in so many of them that only those of a time are looked up in which
 * enough are expected, as frequent as among the newest.
 */
async function findOlder(db: Queryable, searched: SearchedScope, edge: Edge, found: number): Promise<Candidate[]> {
  const wanted = LIMITS.search.ranked - found
  if (found >= COMPARED * FREQUENT) return compareOlder(db, searched, edge, wanted)
  const compared = Math.max(SHORTEST_MS, edge.newest.getTime() - edge.timestamp.getTime())
  for (let factor = MARGIN; ; factor *= GROWTH) {
    const since = new Date(edge.timestamp.getTime() - factor * compared * (wanted / found))
    // Of a word that is rare, or when the time would reach back to before there was mail, all messages are looked up.
    const isAll = found === 0 || !(since.getTime() > 0)
    const older = await lookUp(db, searched, edge, wanted, isAll ? undefined : since)
    if (isAll || older.length === wanted) return older
  }
}

/** The oldest of the messages that are compared one by one; none when there are fewer. */
async function findEdge(db: Queryable, searched: SearchedScope): Promise<Edge | undefined> {
  const parameters = new Parameters()
  const rows = `from searchable where ${inScope(searched, parameters)} order by "timestamp" desc, id desc`
  const [edge] = await parameters.query<Edge>(
    db,
    `select "timestamp", id, (select "timestamp" ${rows} limit 1) as newest ${rows} offset ${COMPARED - 1} limit 1`,
  )
  return edge
}

function compareNewest(db: Queryable, searched: SearchedScope): Promise<Candidate[]> {
  const parameters = new Parameters()
  const { matches, score } = comparison(searched.words, parameters)
  return parameters.query(
    db,
    `select id, thread_id, "timestamp", ${score} as score
  from (select * from searchable where ${inScope(searched, parameters)}
         order by "timestamp" desc, id desc limit ${COMPARED}) as newest
 where ${matches}
 order by "timestamp" desc, id desc limit ${LIMITS.search.ranked}`,
  )
}

function compareOlder(db: Queryable, searched: SearchedScope, edge: Edge, rows: number): Promise<Candidate[]> {
  const parameters = new Parameters()
  const { matches, score } = comparison(searched.words, parameters)
  return parameters.query(
    db,
    `select id, thread_id, "timestamp", ${score} as score
  from searchable
 where ${inScope(searched, parameters)} and ${olderThan(edge, parameters)} and ${matches}
 order by "timestamp" desc, id desc limit ${rows}`,
  )
}

async function lookUp(
  db: Queryable,
  searched: SearchedScope,
  edge: Edge,
  rows: number,
  since: Date | undefined,
): Promise<Candidate[]> {
  const parameters = new Parameters()
  // Two conditions for each word, because the index passes over more of what does not match when it is asked for less.
  const found = searched.words.flatMap(({ inBody, inHeaders }) => {
    const terms = [inBody, inHeaders].flatMap((term) => (term === undefined ? [] : [parameters.add(term)]))
    return terms.length === 0 ? [] : [`(${terms.map((term) => `terms @@ ${term}::query_int`).join(' or ')})`]
  })
  if (found.length === 0) return []
  const { matches, score } = comparison(searched.words, parameters)
  const periods = since && periodsBetween(searched.scope.organizationId, since, edge.timestamp)
  const within = periods && `periods @@ ${parameters.add(periods)}::query_int`
  const newer = since && `"timestamp" >= ${parameters.add(since.toISOString())}::timestamptz`
  const conditions = [inScope(searched, parameters), within, newer, ...found, olderThan(edge, parameters), matches]
  // Materialized, because the planner expects to meet enough matches in the order of time, which it does not.
  return parameters.query(
    db,
    `with found as materialized (
  select id, thread_id, "timestamp", ${score} as score
    from searchable
   where ${conditions.filter((condition) => condition !== undefined).join(' and ')})
select * from found order by "timestamp" desc, id desc limit ${rows}`,
  )
}

function inScope({ scope, before, after }: SearchedScope, parameters: Parameters): string {
  const { organizationId, podId, inboxUid } = scope
  const clauses = ['not hidden']
  if (inboxUid !== undefined) clauses.push(`inbox_uid = ${parameters.add(inboxUid)}::uuid`)
  else if (podId !== undefined) clauses.push(`pod_id = ${parameters.add(podId)}::uuid`)
  else clauses.push(`organization_id = ${parameters.add(organizationId)}::uuid`)
  if (before) clauses.push(`"timestamp" < ${parameters.add(before.toISOString())}::timestamptz`)
  if (after) clauses.push(`"timestamp" > ${parameters.add(after.toISOString())}::timestamptz`)
  return clauses.join(' and ')
}

function olderThan({ timestamp, id }: Edge, parameters: Parameters): string {
  return `("timestamp", id) < (${parameters.add(timestamp.toISOString())}::timestamptz, ${parameters.add(id)}::uuid)`
}

/** The conditions under which a row matches every word, and the sum of the weights of what they match. */
function comparison(words: readonly SearchedWord[], parameters: Parameters): { matches: string; score: string } {
  const compared = words.map(({ text, inBody }) => {
    const word = parameters.add(text)
    const inSubject = `strpos(subject, ${word}) > 0`
    const inPeople = `strpos(people, ${word}) > 0`
    const body = inBody === undefined ? 'false' : `terms @@ ${parameters.add(inBody)}::query_int`
    return {
      matches: `(${inSubject} or ${inPeople} or ${body})`,
      score: `case when ${inSubject} then ${WEIGHT.subject} when ${inPeople} then ${WEIGHT.people} else ${WEIGHT.body} end`,
    }
  })
  return {
    matches: compared.map(({ matches }) => matches).join(' and '),
    score: compared.map(({ score }) => score).join(' + '),
  }
}

/** The values of a statement that is composed for one request. */
class Parameters {
  readonly #values: unknown[] = []

  add(value: unknown): string {
    this.#values.push(value)
    return `$${this.#values.length}`
  }

  query<Row>(db: Queryable, text: string): Promise<Row[]> {
    return db.query(sqlUnprepared<Row, unknown[]>(text), ...this.#values)
  }
}
