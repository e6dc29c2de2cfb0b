import type { UsageType } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { probe } from '../series/read.ts'
import type { Scope } from '../series/series.ts'
import { sumsBefore } from '../series/sums.ts'
import { pointsOf, type Range } from './range.ts'
import type { Bounds } from './steps.ts'

/** So few bounds are asked for at once. */
const FEW = 20

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
  const grid = { from, to: from + last * period, period, sinceEver: true }
  // Each moment is of one statement, so that what is counted together is seen together. PostgreSQL works on one with one core.
  const found = await Promise.all(
    halvesOf(last).map(async (bounds) => {
      const spans = types.map((series) => ({ series, ...bounds }))
      return { bounds, sums: await probe(on, scope, spans, grid) }
    }),
  )
  return new Map(
    types.map((type) => {
      const totals = found.flatMap(({ bounds, sums }) =>
        sumsBefore(sums.get(type), bounds.last + 1).slice(bounds.first),
      )
      return [type, points.map((at, index) => ({ at, value: totals[index] ?? 0 }))]
    }),
  )
}

/** Two halves of the bounds up to a last one; or all, where there are few. */
function halvesOf(last: number): Bounds[] {
  if (last < FEW) return [{ first: 0, last }]
  const middle = Math.floor(last / 2)
  return [
    { first: 0, last: middle },
    { first: middle + 1, last },
  ]
}
