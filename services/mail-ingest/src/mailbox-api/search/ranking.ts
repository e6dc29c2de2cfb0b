import type { Highlights } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable, Statement } from '@restante/service/database'
import type { KeysetPage, PageMembers, Position } from '@restante/service/http'
import type { Candidates } from '../../search/finding/candidates.ts'
import type { Candidate, RankedPosition, Wanted } from '../../search/finding/compare.ts'
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

/**
 * The results of a page, in their order. `match` may leave candidates out, such as those that only a hash had found; then
 * more are looked for, up to a bound.
 */
export async function takeResults(
  page: KeysetPage,
  result: Wanted['result'],
  find: (wanted: Wanted) => Promise<Candidates>,
  match: (candidates: readonly Candidate[], after: RankedPosition | undefined) => Promise<readonly Match[]>,
): Promise<Result[]> {
  const taken: Result[] = []
  let after = page.after && fromToken(page.after)
  // Twice as many each time: a small page must not take many rounds.
  for (
    let [examined, most] = [0, page.take];
    taken.length < page.take && examined < LIMITS.search.ranked;
    examined += most, most = Math.min(2 * most, LIMITS.page.max + 1)
  ) {
    const { candidates, rankedFrom } = await find({ result, after, most })
    const positionOf = ({ score, timestamp: time, [result]: id }: Candidate) => ({ score, time, id, rankedFrom })
    const matches = await match(candidates, after)
    taken.push(...matches.map(({ candidate, highlights }) => ({ highlights, position: positionOf(candidate) })))
    const last = candidates.at(-1)
    if (last === undefined || candidates.length < most) break
    after = positionOf(last)
  }
  return taken.slice(0, page.take)
}

/**
 * Answers a page of results, no more of them than one answer has room for.
 * @param rows reads as many of the rows with these ids, in their order.
 */
export async function answerResults<Row extends { readonly id: string }, Item>(
  db: Queryable,
  page: KeysetPage,
  results: readonly Result[],
  rows: Statement<Measured<Row>, [ids: readonly string[]]>,
  item: (row: Row) => Item,
): Promise<{ items: (Item & { highlights: Highlights })[]; members: PageMembers }> {
  const byId = new Map(results.map((result) => [result.position.id, result]))
  const read = await db.query(rows, [...byId.keys()])
  const shown = read.flatMap((row) => {
    const result = byId.get(row.id)
    return result ? [{ ...result, row }] : []
  })
  // Those that were deleted or hidden since do not count, unless there are more results than the page holds.
  const found = results.length === page.take ? results.length : read[0]?.found
  return page.answer(shown, tokenPosition, ({ row, highlights }) => ({ ...item(row), highlights }), found)
}
