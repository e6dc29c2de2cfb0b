/** Summary of a sample of durations, in the unit of the sample. */
export interface Summary {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** @throws Error when the sample is empty: nothing was measured. */
export function summarize(sample: readonly number[]): Summary {
  const sorted = sample.toSorted((a, b) => a - b)
  return { count: sorted.length, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: quantile(sorted, 1) }
}

/** The smallest value of a sorted sample that at least the share `q` of it does not exceed (nearest rank). */
export function quantile(sorted: readonly number[], q: number): number {
  const value = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]
  if (value === undefined) throw new Error('the sample is empty')
  return value
}
