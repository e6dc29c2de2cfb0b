import type { UsageType } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { periodSums, totalsBefore } from '../series/read.ts'
import type { Scope } from '../series/series.ts'
import { pointsOf, type Range } from './range.ts'

/** A running total at a moment. */
export interface Measured {
  readonly at: number
  readonly value: number
}

/** Running totals at each point of a range, what happened at that very moment included; oldest first. */
export async function usageAt(
  on: Queryable,
  { scope, types, range, period }: { scope: Scope; types: readonly UsageType[]; range: Range; period: number },
): Promise<Map<UsageType, Measured[]>> {
  const points = pointsOf(range, period)
  // A total at a moment is the sum of all before the millisecond after it.
  const from = range.from + 1
  const grid = { from, to: from + points.length * period, period }
  const [totals, sums] = await Promise.all([totalsBefore(on, scope, types, from), periodSums(on, scope, types, grid)])
  return new Map(
    types.map((type) => {
      const grown = new Map(sums.get(type)?.map(({ index, sum }) => [index, sum]))
      let value = totals.get(type) ?? 0
      const measured = points.map((at, index) => {
        if (index > 0) value += grown.get(index - 1) ?? 0
        return { at, value }
      })
      return [type, measured]
    }),
  )
}
