import type { Highlights } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable, Statement } from '@restante/service/database'
import type { KeysetPage, PageMembers, Position } from '@restante/service/http'
import type { Candidates } from '../../search/finding/candidates.ts'
import type { Candidate, RankedPosition, Wanted } from '../../search/finding/compare.ts'
import { ReadAhead } from '../../search/results/read-ahead.ts'
import type { Measured } from '../pages/list-query.ts'

/** A candidate that matches every word. */
export interface Match {
  readonly candidate: Candidate
  readonly highlights: Highlights
}

/** A result of a page, with its place. Its row is not read yet. */
export interface Result {
  readonly position: RankedPosition
  readonly highlights: Highlights
}

/** The place of a result as a page token holds it. */
function tokenPosition({ position: { score, time, id, rankedFrom } }: Pick<Result, 'position'>): Position {
  const rank = rankedFrom ? [score, rankedFrom.timestamp.toISOString(), rankedFrom.id] : [score]
  return { rank: rank.join(' '), time, id }
}

function fromToken({ rank = '', time, id }: Position): RankedPosition {
  const [score, timestamp, tie] = rank.split(' ')
  const rankedFrom =
    timestamp === undefined || tie === undefined ? undefined : { timestamp: new Date(timestamp), id: tie }
  return { score: Number(score), time, id, rankedFrom }
}

/** How one kind of search finds its results, and shows them. */
interface Search<Row extends { readonly id: string }, Item> {
  readonly result: Wanted['result']
  /** @param likely is told the results that will probably be found, before it is certain. */
  readonly find: (wanted: Wanted, likely: (candidates: readonly Candidate[]) => void) => Promise<Candidates>
  /** May leave candidates out, such as those that only a hash had found; then more are looked for, up to a bound. */
  readonly match: (candidates: readonly Candidate[], after: RankedPosition | undefined) => Promise<readonly Match[]>
  /** Reads as many of the rows with these ids as one answer has room for, in their order. */
  readonly rows: Statement<Measured<Row>, [ids: readonly string[]]>
  readonly item: (row: Row) => Item
}

/** Answers a page of results, no more of them than one answer has room for. */
export async function answerSearch<Row extends { readonly id: string }, Item>(
  db: Queryable,
  page: KeysetPage,
  search: Search<Row, Item>,
): Promise<{ items: (Item & { highlights: Highlights })[]; members: PageMembers }> {
  // Rows are read while the texts of their messages are compared.
  const rows = new ReadAhead((ids) => db.query(search.rows, ids))
  const results = await takeResults(page, search, (ids) => rows.begin(ids))
  const byId = new Map(results.map((result) => [result.position.id, result]))
  const read = await rows.rows([...byId.keys()])
  const shown = read.flatMap((row) => {
    const result = byId.get(row.id)
    return result ? [{ ...result, row }] : []
  })
  // Those that were deleted or hidden since do not count, unless there are more results than the page holds.
  const found = results.length === page.take ? results.length : read[0]?.found
  return page.answer(shown, tokenPosition, ({ row, highlights }) => ({ ...search.item(row), highlights }), found)
}

/** The results of a page, in their order. @param begin is told the ids of those that will probably be all. */
async function takeResults<Row extends { readonly id: string }, Item>(
  page: KeysetPage,
  { result, find, match }: Search<Row, Item>,
  begin: (ids: readonly string[]) => void,
): Promise<Result[]> {
  const taken: Result[] = []
  let after = page.after && fromToken(page.after)
  // Twice as many each time: a small page must not take many rounds.
  for (
    let [examined, most] = [0, page.take];
    taken.length < page.take && examined < LIMITS.search.ranked;
    examined += most, most = Math.min(2 * most, LIMITS.page.max + 1)
  ) {
    // Those of a later round follow others.
    const likely = (some: readonly Candidate[]) => {
      if (examined === 0) begin(some.map((candidate) => candidate[result]))
    }
    const { candidates, rankedFrom } = await find({ result, after, most }, likely)
    likely(candidates)
    const positionOf = ({ score, timestamp: time, [result]: id }: Candidate) => ({ score, time, id, rankedFrom })
    const matches = await match(candidates, after)
    taken.push(...matches.map(({ candidate, highlights }) => ({ highlights, position: positionOf(candidate) })))
    const last = candidates.at(-1)
    if (last === undefined || candidates.length < most) break
    after = positionOf(last)
  }
  return taken.slice(0, page.take)
}
