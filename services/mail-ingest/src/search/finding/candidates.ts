import { LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { periodsBetween } from '../indexing/period.ts'
import { bestOf, type Candidate, type Compared, compare, type Wanted } from './compare.ts'
import {
  type Comparison,
  comparison,
  inScope,
  lookedUpInBodies,
  lookedUpInHeaders,
  olderThan,
  Parameters,
  type Place,
  type SearchedScope,
} from './conditions.ts'
import { isShort } from './search-query.ts'

/** The oldest of the messages that are compared one by one. */
interface Edge extends Place {
  /** Times of the newest and the oldest message of the scope. */
  readonly newest: Date
  readonly oldest: Date
}

/** Older messages that are looked up together: all of one kind rank before those of the next. */
interface Kind {
  /** Conditions for the index; none: the index cannot find them. */
  readonly lookedUp: (parameters: Parameters) => string[]
  /** The condition, beside that all words match. */
  readonly only: (comparison: Comparison) => string
  /** What they are older than. */
  readonly before: Place
  /** How many are expected to be enough, and how many there were among the newest messages. */
  readonly rows: number
  readonly found: number
  readonly isEnough: (compared: Compared) => boolean
}

/** The newest messages of the scope, which are compared one by one: searches of frequent words end there. */
const COMPARED = 500
/** As many are compared with a word that the index finds at the beginnings of words only. */
const COMPARED_SHORT = 2_000
/** From this share of matches among them on, older messages are compared one by one, too: an index would not be faster. */
const FREQUENT = 0.2
const DAY_MS = 86_400_000
/** The time in which messages are looked up of which none was among the newest. */
const UNKNOWN_MS = 64 * DAY_MS
/** How much longer than expected the time is in which messages are looked up, and how much it grows when it was too short. */
const MARGIN = 1.5
const GROWTH = 16
/** The lowest id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * The best results after a position, best first; fewer than wanted when there are no more. Of messages with a word in
 * sender, recipients or subject the best are found among the newest `LIMITS.search.ranked`.
 */
export async function findCandidates(db: Queryable, searched: SearchedScope, wanted: Wanted): Promise<Candidate[]> {
  const [edge, newest] = await Promise.all([findEdge(db, searched), compareNewest(db, searched, wanted)])
  if (edge === undefined) return bestOf(newest.best, wanted)
  const { words } = searched
  const ranked = LIMITS.search.ranked - newest.inHeaders
  const headers = await findOlder(db, searched, wanted, edge, {
    lookedUp: (parameters) => lookedUpInHeaders(words, parameters),
    only: ({ inHeaders }) => inHeaders,
    before: edge,
    rows: ranked,
    found: newest.inHeaders,
    isEnough: ({ matched }) => matched >= ranked,
  })
  const best = bestOf([...newest.best, ...headers], wanted)
  if (best.length === wanted.most) return best
  const bodies = await findOlder(db, searched, wanted, edge, {
    lookedUp: (parameters) => lookedUpInBodies(words, parameters),
    only: ({ inHeaders }) => `not ${inHeaders}`,
    before: laterOf(edge, wanted),
    rows: wanted.most,
    found: newest.matched - newest.inHeaders,
    isEnough: (compared) => compared.best.length === wanted.most,
  })
  return bestOf([...best, ...bodies], wanted)
}

function comparedOf({ words }: SearchedScope): number {
  return words.some(({ text }) => isShort(text)) ? COMPARED_SHORT : COMPARED
}

/** Where the results after a position begin that are ordered by time alone. */
function laterOf(edge: Edge, { after }: Wanted): Place {
  if (after === undefined || after.time >= edge.timestamp) return edge
  // Others of the same time may come after it.
  return { timestamp: new Date(after.time.getTime() + 1), id: FIRST_ID }
}

/**
 * Older messages of one kind. A frequent word is in so many that only those of a time are looked up in which enough are
 * expected, as frequent as among the newest.
 */
async function findOlder(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  edge: Edge,
  kind: Kind,
): Promise<readonly Candidate[]> {
  const { found, rows, before, isEnough } = kind
  if (rows <= 0) return []
  if (found >= comparedOf(searched) * FREQUENT) return compareOlder(db, searched, wanted, kind)
  const compared = Math.max(1, edge.newest.getTime() - edge.timestamp.getTime())
  const expected = found === 0 ? UNKNOWN_MS : MARGIN * compared * (rows / found)
  for (let time = Math.max(DAY_MS, expected); ; time *= GROWTH) {
    const since = new Date(before.timestamp.getTime() - time)
    const isAll = since <= edge.oldest
    const older = await lookUp(db, searched, wanted, kind, isAll ? undefined : since)
    if (isAll || isEnough(older)) return older.best
  }
}

/** The oldest of the messages that are compared one by one; none when there are fewer. */
async function findEdge(db: Queryable, searched: SearchedScope): Promise<Edge | undefined> {
  const parameters = new Parameters()
  const rows = `from searchable where ${inScope(searched, parameters)}`
  const newestFirst = 'order by "timestamp" desc, id desc'
  const [edge] = await parameters.query<Edge>(
    db,
    `select "timestamp", id, (select "timestamp" ${rows} ${newestFirst} limit 1) as newest,
       (select "timestamp" ${rows} order by "timestamp", id limit 1) as oldest
  ${rows} ${newestFirst} offset ${comparedOf(searched) - 1} limit 1`,
  )
  return edge
}

function compareNewest(db: Queryable, searched: SearchedScope, wanted: Wanted): Promise<Compared> {
  const parameters = new Parameters()
  const compared = comparison(searched.words, parameters)
  const newest = `(select * from searchable where ${inScope(searched, parameters)}
    order by "timestamp" desc, id desc limit ${comparedOf(searched)}) as newest`
  return compare(db, compared.select(newest, [compared.matches]), wanted, searched.words, parameters)
}

/** Compares messages one by one, in the order of time, until as many match as are wanted. */
async function compareOlder(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  { only, before, rows, isEnough }: Kind,
): Promise<readonly Candidate[]> {
  for (let limit = rows; ; limit *= GROWTH) {
    const parameters = new Parameters()
    const compared = comparison(searched.words, parameters)
    const conditions = [inScope(searched, parameters), olderThan(before, parameters), compared.matches, only(compared)]
    const newest = `${compared.select('searchable', conditions)} order by "timestamp" desc, id desc limit ${limit}`
    const older = await compare(db, newest, wanted, searched.words, parameters)
    if (older.matched < limit || isEnough(older)) return older.best
  }
}

async function lookUp(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  { lookedUp, only, before }: Kind,
  since: Date | undefined,
): Promise<Compared> {
  const parameters = new Parameters()
  const found = lookedUp(parameters)
  if (found.length === 0) return { best: [], matched: 0, inHeaders: 0 }
  const compared = comparison(searched.words, parameters)
  const conditions = [inScope(searched, parameters)]
  if (since) {
    const periods = periodsBetween(searched.scope.organizationId, since, before.timestamp)
    conditions.push(`periods @@ ${parameters.add(periods)}::query_int`)
    conditions.push(`"timestamp" >= ${parameters.add(since.toISOString())}::timestamptz`)
  }
  conditions.push(...found, olderThan(before, parameters), compared.matches, only(compared))
  return compare(db, compared.select('searchable', conditions), wanted, searched.words, parameters)
}

/**
 * The threads among those of the candidates that have a better message than the candidate: after a position, they were
 * results before it.
 */
export async function findSeen(
  db: Queryable,
  { words }: SearchedScope,
  candidates: readonly Candidate[],
): Promise<Set<string>> {
  const parameters = new Parameters()
  const compared = comparison(words, parameters)
  const values = {
    id: parameters.add(candidates.map(({ id }) => id)),
    thread: parameters.add(candidates.map(({ thread_id }) => thread_id)),
    score: parameters.add(candidates.map(({ score }) => score)),
    time: parameters.add(candidates.map(({ timestamp }) => timestamp.toISOString())),
  }
  const messages = `(select searchable.* from messages join searchable using (id)
    where messages.thread_id = candidate.thread_id) as each`
  const rows = await parameters.query<{ thread_id: string }>(
    db,
    `select distinct candidate.thread_id
  from unnest(${values.id}::uuid[], ${values.thread}::uuid[], ${values.score}::int[], ${values.time}::timestamptz[])
         as candidate (id, thread_id, score, "timestamp"),
       lateral (${compared.select(messages, ['not hidden', compared.matches])}) as message
 where (message.score, message."timestamp", message.id) > (candidate.score, candidate."timestamp", candidate.id)`,
  )
  return new Set(rows.map(({ thread_id }) => thread_id))
}
