const VARIABLE = 'RESTANTE_TEST_LENGTH'

/**
 * One of two sizes of a test: `npm test` uses the short one, `npm run test:long` the long one. Both run every case of
 * the test; the long one runs more repetitions of each.
 */
export function byLength<T>(lengths: { readonly short: T; readonly long: T }): T {
  const length = process.env[VARIABLE] ?? 'short'
  if (length === 'short' || length === 'long') return lengths[length]
  throw new Error(`${VARIABLE} is '${length}': it is 'short' or 'long'`)
}

/** All of many cases that show the same thing at full length; in the short form one in so many, with the first. */
export function sampleByLength<T>(oneIn: number, cases: readonly T[]): readonly T[] {
  return byLength({ short: cases.filter((_, at) => at % oneIn === 0), long: cases })
}
