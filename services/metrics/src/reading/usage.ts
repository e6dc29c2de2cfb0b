import type { UsageType } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { probe } from '../series/read.ts'
import type { Scope } from '../series/series.ts'
import { sumsBefore } from '../series/sums.ts'
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
  const last = points.length - 1
  // A total at a moment is the sum of all before the millisecond after it.
  const from = range.from + 1
  const spans = types.map((series) => ({ series, first: 0, last }))
  const grid = { from, to: from + last * period, period, sinceEver: true }
  // One statement, so that all totals are those of one moment: what is counted together is seen together.
  const found = await probe(on, scope, spans, grid)
  return new Map(
    types.map((type) => {
      const totals = sumsBefore(found.get(type), points.length)
      return [type, points.map((at, index) => ({ at, value: totals[index] ?? 0 }))]
    }),
  )
}
