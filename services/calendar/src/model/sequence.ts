/** The greatest SEQUENCE: RFC 5545 3.8.7.4 and the column have the same range. */
const MOST_SEQUENCE = 2_147_483_647

/** A sequence within its range, of what a file says. */
export function boundedSequence(sequence: number): number {
  return Math.min(Math.max(sequence, 0), MOST_SEQUENCE)
}

/** The sequence of a change. At its end the range stays there: then the later DTSTAMP tells which version is newer. */
export function nextSequence(sequence: number): number {
  return boundedSequence(sequence + 1)
}
