import { ratesOf, triedOf } from '@restante/contracts/events'
import type { RateType } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { probe } from '../series/read.ts'
import { DELIVERY_COUNTS, type DeliveryCount, type Scope } from '../series/series.ts'
import { sumsBefore } from '../series/sums.ts'
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
  const windows = window / period
  const last = windows + points.length - 1
  const grid = { from: range.from - window, to: range.from + (points.length - 1) * period, period }
  const spans = DELIVERY_COUNTS.map((name) => ({ series: `recipients.${name}` as const, first: 0, last }))
  const found = await probe(on, scope, spans, grid)
  const trailing = (name: DeliveryCount) => {
    const sums = sumsBefore(found.get(`recipients.${name}`), last + 1)
    return points.map((_, point) => (sums[point + windows] ?? 0) - (sums[point] ?? 0))
  }
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
