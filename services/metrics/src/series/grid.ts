import type { SeriesName } from './series.ts'

/** A range of time in equal periods, in milliseconds since 1970: bound `n` is `n` periods after `from`, and none is after `to`. */
export interface Grid {
  readonly from: number
  readonly to: number
  readonly period: number
}

/** What is asked of a series: sums of its points before the bounds of a grid from the first to the last given one. */
export interface Span<Name extends SeriesName> {
  readonly series: Name
  readonly first: number
  readonly last: number
}
