import { LIMITS } from '@restante/contracts/vocabulary'
import type { KeysetPage, Position } from '@restante/service/http'
import type { Candidates } from '../../search/finding/candidates.ts'
import type { Candidate, RankedPosition, Wanted } from '../../search/finding/compare.ts'

/** A result of a page, with its place. */
export interface Placed {
  readonly position: RankedPosition
}

/** The place of a result as a page token holds it. */
export function tokenPosition({ position: { score, time, id, rankedFrom } }: Placed): Position {
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
 * The results of a page, in their order. `load` may leave candidates out, such as those that only a hash had found; then
 * more are looked for, up to a bound.
 */
export async function takeResults<Found>(
  page: KeysetPage,
  result: Wanted['result'],
  find: (wanted: Wanted) => Promise<Candidates>,
  load: (
    candidates: readonly Candidate[],
    after: RankedPosition | undefined,
  ) => Promise<{ readonly candidate: Candidate; readonly found: Found }[]>,
): Promise<(Found & Placed)[]> {
  const taken: (Found & Placed)[] = []
  let after = page.after && fromToken(page.after)
  // Twice as many each time: a small page must not take many rounds.
  for (
    let [examined, most] = [0, page.take];
    taken.length < page.take && examined < LIMITS.search.ranked;
    examined += most, most = Math.min(2 * most, LIMITS.page.max + 1)
  ) {
    const { candidates, rankedFrom } = await find({ result, after, most })
    const positionOf = ({ score, timestamp: time, [result]: id }: Candidate) => ({ score, time, id, rankedFrom })
    const loaded = await load(candidates, after)
    taken.push(...loaded.map(({ candidate, found }) => ({ ...found, position: positionOf(candidate) })))
    const last = candidates.at(-1)
    if (last === undefined || candidates.length < most) break
    after = positionOf(last)
  }
  return taken.slice(0, page.take)
}
