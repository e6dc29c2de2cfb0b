import { LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { periodsBetween } from '../indexing/period.ts'
import { bestOf, type Candidate, type Compared, compare, type Edge, type Wanted } from './compare.ts'
import {
  bodyScore,
  type Comparison,
  comparison,
  inScope,
  lookedUpAnywhere,
  lookedUpInBodies,
  lookedUpInHeaders,
  Parameters,
  type Place,
  placed,
  type SearchedScope,
} from './conditions.ts'
import { isShort } from './search-query.ts'

/** The best results after a position, best first; fewer than wanted when there are no more. */
export interface Candidates {
  readonly candidates: readonly Candidate[]
  /** The oldest place from which they are ranked by sender, recipients and subject; undefined: all are. */
  readonly rankedFrom: Place | undefined
}

/** Older messages that are looked up together: all of one kind rank before those of the next. */
interface Kind {
  /** Conditions for the index; none: the index cannot find them. */
  readonly lookedUp: (parameters: Parameters) => string[]
  /** The condition, beside that all words match. */
  readonly only: (comparison: Comparison) => string
  /** From where they are ranked by sender, recipients and subject. */
  readonly rankedFrom: Place | undefined
  /** What they are older than. */
  readonly before: Place
  /** How many are expected to be enough, and how many there were among the newest messages. */
  readonly rows: number
  readonly found: number
  readonly isEnough: (compared: Compared) => boolean
  /** How much the time grows when these were not enough. */
  readonly growth: (compared: Compared) => number
}

/** The best of the messages of one kind that are not older than a place; undefined: of all. */
interface Older {
  readonly best: readonly Candidate[]
  readonly from: Place | undefined
}

/** The newest messages of the scope, which are compared one by one: searches of frequent words end there. */
const COMPARED = 500
/** As many are compared with a word that the index finds at the beginnings of words only. */
const COMPARED_SHORT = 2_000
/** From this share of matches among them on, older messages are compared one by one, too: an index would not be faster. */
const FREQUENT = 0.2
const DAY_MS = 86_400_000
/** The most time in which messages are looked up first of which none was among the newest. */
const UNKNOWN_MS = 64 * DAY_MS
/** Of messages of which none was among the newest, so few are all read at once, whatever their time. */
const FEW = 500
/** Where so few messages are expected to have enough, they are compared one by one: a day of the index may have many more. */
const NEXT = 1_000
/** How much more than expected is looked at. */
const MARGIN = 1.5
/** How much the time grows at least when it was too short: as much as those found in it tell. */
const LEAST_GROWTH = 2
/** How much it always grows where it decides from where on messages are ranked by sender, recipients and subject. */
const GROWTH = 16
/** The lowest id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Finds the best results after a position. Of messages with a word in sender, recipients or subject, the newest
 * `LIMITS.search.ranked` rank before all others; those that are older rank by time, among those with all words in the
 * body alone.
 * @param likely is told the results that will be found unless an older message ranks before them, which is rare.
 */
export async function findCandidates(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  likely: (candidates: readonly Candidate[]) => void,
): Promise<Candidates> {
  const newest = await compareNewest(db, searched, wanted)
  const { edge } = newest
  const bestOfNewest = bestOf(newest.best, wanted)
  if (edge === undefined) return { candidates: bestOfNewest, rankedFrom: undefined }
  if (newest.inHeaders === 0 && bestOfNewest.length === wanted.most) likely(bestOfNewest)
  const known = wanted.after?.rankedFrom
  const findBodies = (rankedFrom: Place | undefined) => findInBodies(db, searched, wanted, { edge, newest, rankedFrom })
  // Words in the headers of no new message are rare in older headers, so the search of bodies does not wait for these.
  const isRareInHeaders = newest.inHeaders === 0 && newest.best.length < wanted.most
  const [{ best: headers, from: rankedFrom }, early] = await Promise.all([
    findInHeaders(db, searched, wanted, { edge, newest }),
    isRareInHeaders ? findBodies(known) : undefined,
  ])
  const best = bestOf([...newest.best, ...headers], wanted)
  if (best.length === wanted.most) return { candidates: best, rankedFrom }
  const bodies = early && rankedFrom === known ? early : await findBodies(rankedFrom)
  return { candidates: bestOf([...best, ...bodies.best], wanted), rankedFrom }
}

/** Older messages that have all words in their body, and those that are not ranked by sender, recipients and subject. */
async function findInBodies(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  { edge, newest, rankedFrom }: { edge: Edge; newest: Compared; rankedFrom: Place | undefined },
): Promise<Older> {
  const rows = Math.max(1, wanted.most - newest.best.length)
  const kind: Kind = {
    lookedUp: (parameters) => (rankedFrom ? lookedUpAnywhere : lookedUpInBodies)(searched.words, parameters),
    only: ({ inHeaders }) => `not ${inHeaders}`,
    rankedFrom,
    before: laterOf(edge, searched, wanted),
    rows,
    found: newest.matched - (rankedFrom ? 0 : newest.inHeaders),
    // The newest rank before them.
    isEnough: ({ best }) => bestOf([...newest.best, ...best], wanted).length === wanted.most,
    growth: ({ matched }) => Math.max(LEAST_GROWTH, MARGIN * (rows / Math.max(1, matched))),
  }
  const isNear = kind.found > 0 && expectedAmong(searched, kind) <= NEXT
  const next = isNear ? await findNext(db, searched, wanted, kind) : undefined
  return next ?? findOlder(db, searched, wanted, edge, kind)
}

/** Older messages that are ranked by sender, recipients and subject. After a position they are the same as before it. */
async function findInHeaders(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  { edge, newest }: { edge: Edge; newest: Compared },
): Promise<Older> {
  const { words } = searched
  const { after } = wanted
  if (after !== undefined && after.score <= bodyScore(words)) return { best: [], from: after.rankedFrom }
  const rows = LIMITS.search.ranked - newest.inHeaders
  const kind: Kind = {
    lookedUp: (parameters) => lookedUpInHeaders(words, parameters),
    only: ({ inHeaders }) => inHeaders,
    rankedFrom: after?.rankedFrom,
    before: edge,
    rows,
    found: newest.inHeaders,
    isEnough: ({ matched }) => matched >= rows,
    growth: () => GROWTH,
  }
  if (after === undefined) {
    if (rows <= 0) return { best: [], from: edge }
    const next = isFrequent(searched, kind) ? await findNext(db, searched, wanted, kind) : undefined
    return next ?? findOlder(db, searched, wanted, edge, kind)
  }
  const from = after.rankedFrom
  const isIndexed = from === undefined || !isFrequent(searched, kind)
  const { best } = await compareOlder(db, searched, wanted, kind, { from, isIndexed })
  return { best, from }
}

function isFrequent(searched: SearchedScope, { found }: Kind): boolean {
  return found >= comparedOf(searched) * FREQUENT
}

/** Among how many messages enough are expected, as frequent as among the newest. */
function expectedAmong(searched: SearchedScope, { rows, found }: Kind): number {
  return Math.ceil(MARGIN * (rows / Math.max(1, found)) * comparedOf(searched))
}

function comparedOf({ words }: SearchedScope): number {
  return words.some(({ text }) => isShort(text)) ? COMPARED_SHORT : COMPARED
}

/** Where the results after a position begin that are ordered by time alone. */
function laterOf(edge: Edge, { words }: SearchedScope, { after }: Wanted): Place {
  if (after === undefined || after.score > bodyScore(words) || after.time >= edge.timestamp) return edge
  // Others of the same time may come after it.
  return { timestamp: new Date(after.time.getTime() + 1), id: FIRST_ID }
}

/**
 * A frequent word is first looked for in messages one by one; but it may have been rare before, and then only the index
 * finds it without reading all of them. Undefined: it was.
 */
async function findNext(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  kind: Kind,
): Promise<Older | undefined> {
  const next = await compareNext(db, searched, wanted, kind, expectedAmong(searched, kind))
  return next.edge === undefined || kind.isEnough(next) ? { best: next.best, from: next.edge } : undefined
}

/**
 * Older messages of one kind, by the index. A word is in so many that only those of a time are looked at in which enough are
 * expected, as frequent as among the newest.
 */
async function findOlder(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  edge: Edge,
  kind: Kind,
): Promise<Older> {
  const { before, isEnough, growth } = kind
  if (kind.found === 0) {
    const few = await compareOlder(db, searched, wanted, kind, { from: undefined, isIndexed: true, limit: FEW })
    if (few.matched < FEW) return { best: few.best, from: undefined }
  }
  const most = kind.found === 0 ? UNKNOWN_MS : Number.POSITIVE_INFINITY
  const elapsed =
    (expectedAmong(searched, kind) / comparedOf(searched)) * (edge.newest.getTime() - edge.timestamp.getTime())
  for (let time = Math.max(DAY_MS, Math.min(most, elapsed)); ; ) {
    const since = before.timestamp.getTime() - time
    const from = since <= edge.oldest.getTime() ? undefined : { timestamp: new Date(since), id: FIRST_ID }
    const older = await compareOlder(db, searched, wanted, kind, { from, isIndexed: true })
    if (from === undefined || isEnough(older)) return { best: older.best, from }
    time *= growth(older)
  }
}

/** Compares the newest messages, and finds the oldest of them; none when the scope has fewer. */
function compareNewest(db: Queryable, searched: SearchedScope, wanted: Wanted): Promise<Compared> {
  const parameters = new Parameters()
  const compared = comparison(searched, parameters, wanted.after?.rankedFrom)
  const rows = `from searchable where ${inScope(searched, parameters)}`
  const newestFirst = 'order by "timestamp" desc, id desc'
  const most = comparedOf(searched)
  return compare(db, {
    candidates: compared.select(`(select * ${rows} ${newestFirst} limit ${most}) as newest`, [compared.matches]),
    edge: `select "timestamp" as edge_timestamp, id as edge_id,
              (select "timestamp" ${rows} ${newestFirst} limit 1) as newest,
              (select "timestamp" ${rows} order by "timestamp", id limit 1) as oldest
         ${rows} ${newestFirst} offset ${most - 1} limit 1`,
    wanted,
    words: searched.words,
    parameters,
  })
}

/** Compares so many of the messages before a kind's place one by one, and finds the last of them; none when there are fewer. */
function compareNext(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  { only, before, rankedFrom }: Kind,
  messages: number,
): Promise<Compared> {
  const parameters = new Parameters()
  const compared = comparison(searched, parameters, rankedFrom)
  const conditions = [inScope(searched, parameters), placed('<', before, parameters)]
  const next = `from searchable where ${conditions.join(' and ')} order by "timestamp" desc, id desc`
  return compare(db, {
    candidates: compared.select(`(select * ${next} limit ${messages}) as next`, [compared.matches, only(compared)]),
    edge: `select "timestamp" as edge_timestamp, id as edge_id, "timestamp" as newest, "timestamp" as oldest
        ${next} offset ${messages - 1} limit 1`,
    wanted,
    words: searched.words,
    parameters,
  })
}

/** Compares older messages, those that the index finds or all of a time. */
async function compareOlder(
  db: Queryable,
  searched: SearchedScope,
  wanted: Wanted,
  { lookedUp, only, before, rankedFrom }: Kind,
  { from, isIndexed, limit }: { from: Place | undefined; isIndexed: boolean; limit?: number },
): Promise<Compared> {
  const parameters = new Parameters()
  const found = isIndexed ? lookedUp(parameters) : []
  if (isIndexed && found.length === 0) return { best: [], matched: 0, inHeaders: 0, edge: undefined }
  const compared = comparison(searched, parameters, rankedFrom)
  const conditions = [inScope(searched, parameters)]
  if (from) {
    if (isIndexed) {
      const periods = periodsBetween(searched.scope.organizationId, from.timestamp, before.timestamp)
      conditions.push(`periods @@ ${parameters.add(periods)}::query_int`)
    }
    conditions.push(placed('>=', from, parameters))
  }
  conditions.push(...found, placed('<', before, parameters), compared.matches, only(compared))
  const candidates = compared.select('searchable', conditions)
  return compare(db, { candidates, ...(limit && { limit }), wanted, words: searched.words, parameters })
}
