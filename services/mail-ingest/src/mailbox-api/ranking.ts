import { LIMITS } from '@restante/contracts/vocabulary'
import type { KeysetPage, Position } from '@restante/service/http'
import type { Candidate, Wanted } from '../search/finding/compare.ts'

/** The place of a candidate in the results: best score first, then the newest, ties by id. */
export function rankPosition(candidate: Candidate, result: Wanted['result']): Position {
  return { rank: String(candidate.score), time: candidate.timestamp, id: candidate[result] }
}

/**
 * The results of a page, in their order. `load` may leave candidates out, such as those that only a hash had found; then
 * more are looked for, up to a bound.
 */
export async function takeResults<Found>(
  page: KeysetPage,
  result: Wanted['result'],
  find: (wanted: Wanted) => Promise<Candidate[]>,
  load: (candidates: readonly Candidate[], after: Position | undefined) => Promise<Found[]>,
): Promise<Found[]> {
  const taken: Found[] = []
  let after = page.after
  for (let examined = 0; taken.length < page.take && examined < LIMITS.search.ranked; examined += page.take) {
    const candidates = await find({ result, after, most: page.take })
    taken.push(...(await load(candidates, after)))
    const last = candidates.at(-1)
    if (last === undefined || candidates.length < page.take) break
    after = rankPosition(last, result)
  }
  return taken.slice(0, page.take)
}
