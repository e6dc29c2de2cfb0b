import { ratesOf, triedOf } from '@restante/contracts/events'
import type { RateType } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { periodSums } from '../series/read.ts'
import { DELIVERY_COUNTS, type DeliveryCount, type Scope } from '../series/series.ts'
import { pointsOf, type Range } from './range.ts'

/** The share of a window that ends at a moment. */
export interface Rated {
  readonly at: number
  readonly rate: number | null
  /** Recipients. */
  readonly sent: number
}

interface Question {
  readonly scope: Scope
  readonly types: readonly RateType[]
  readonly range: Range
  readonly period: number
  /** A multiple of the period. */
  readonly window: number
}

/** Rates at each point of a range, of the window before it, by the definition by which organizations are judged; oldest first. */
export async function ratesAt(on: Queryable, question: Question): Promise<Map<RateType, Rated[]>> {
  const { scope, types, range, period, window } = question
  const points = pointsOf(range, period)
  const grid = { from: range.from - window, to: range.from + points.length * period, period }
  const series = DELIVERY_COUNTS.map((name) => `recipients.${name}` as const)
  const sums = await periodSums(on, scope, series, grid)
  const windows = window / period
  const trailing = (name: DeliveryCount) =>
    trailingSums(sums.get(`recipients.${name}`) ?? [], { points: points.length, windows })
  const [sent, bounced, complained] = [trailing('sent'), trailing('bounced'), trailing('complained')]
  const counts = points.map((at, index) => ({
    at,
    counts: { sent: sent[index] ?? 0, bounced: bounced[index] ?? 0, complained: complained[index] ?? 0 },
  }))
  return new Map(
    types.map((type) => [
      type,
      counts.map(({ at, counts: counted }) => ({ at, rate: ratesOf(counted)[type], sent: triedOf(counted) })),
    ]),
  )
}

/** For each point the sum of the periods before it, as many as a window has; point 0 has exactly these before it. */
function trailingSums(
  found: readonly { readonly index: number; readonly sum: number }[],
  { points, windows }: { readonly points: number; readonly windows: number },
): number[] {
  const until: number[] = [0]
  const sums = new Map(found.map(({ index, sum }) => [index, sum]))
  for (let index = 0; index < points + windows; index++) until.push((until[index] ?? 0) + (sums.get(index) ?? 0))
  return Array.from({ length: points }, (_, point) => (until[point + windows] ?? 0) - (until[point] ?? 0))
}
