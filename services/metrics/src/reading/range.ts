import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError, invalid } from '@restante/service/errors'
import { DAY_MS } from '../series/series.ts'

/** A range of time in milliseconds since 1970: from `from` on and before `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

interface AskedRange {
  readonly start?: Date | undefined
  readonly end?: Date | undefined
}

const { range: USUAL, reach: REACH, points: MOST_POINTS } = LIMITS.metrics

/**
 * The range of a request: up to now, and a day, unless it says otherwise (identity 9.1).
 * @throws ApiError 400 when it ends before it begins.
 */
export function rangeOf({ start, end }: AskedRange, now: Date): Range {
  const to = Math.min((end ?? now).getTime(), now.getTime())
  const from = start?.getTime() ?? to - USUAL
  if (from >= to) throw invalid(['start'], 'Must be earlier than `end`, which is now unless it is given')
  return { from, to }
}

/** What a request may be on its way after its caller has read the clock. */
const ON_THE_WAY_MS = 60_000

/** @throws ApiError 400 when a range is wider than what is kept in detail, or begins before it. */
export function requireKept({ from, to }: Range, now: Date): void {
  const days = REACH / DAY_MS
  const [arrival, patient] = [now.getTime(), REACH + ON_THE_WAY_MS]
  // A range that ends at its arrival has grown on its way.
  if (to - from > (to === arrival ? patient : REACH)) {
    throw tooWide(`The range is wider than ${days} days`, 'start', 'Use a shorter range')
  }
  if (from < arrival - patient) throw invalid(['start'], `Must be at most ${days} days ago`)
}

/** @throws ApiError 400 when so many milliseconds hold more periods than one answer does. */
export function requireFewPeriods(ms: number, period: number): void {
  if (ms / period <= MOST_POINTS) return
  throw tooWide(`Range holds more than ${MOST_POINTS} periods`, 'period', 'Use a longer period or a shorter range')
}

function tooWide(message: string, path: string, advice: string): ApiError {
  return new ApiError('query_range_too_wide', {
    message,
    fix: `${advice}.`,
    errors: [{ path: [path], message: advice }],
  })
}

/** The points of a range, one per period from its start on, in milliseconds since 1970. */
export function pointsOf({ from, to }: Range, period: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / period) }, (_, index) => from + index * period)
}

/** The first entries in the chosen order of entries that are oldest first. */
export function firstOf<Entry>(entries: readonly Entry[], limit: number, descending: boolean): readonly Entry[] {
  return descending ? entries.toReversed().slice(0, limit) : entries.slice(0, limit)
}
