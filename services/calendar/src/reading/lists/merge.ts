import type { Pace } from '../window/pace.ts'

/** A sorted sequence with its next element. */
interface Head<T> {
  readonly rest: Iterator<T>
  readonly next: T
}

/**
 * The elements of sorted sequences, in one order. Of each sequence only the elements up to its first that is not asked for
 * any more are computed.
 */
export async function* merge<T>(
  sequences: Iterable<Iterator<T>>,
  compare: (a: T, b: T) => number,
  pace: Pace,
): AsyncGenerator<T, void> {
  const heads: Head<T>[] = []
  for (const rest of sequences) {
    const { done, value } = rest.next()
    if (!done) heads.push({ rest, next: value })
    if (pace.isOver) await pace.pause()
  }
  // The next element is that of the last head.
  const order = (a: Head<T>, b: Head<T>) => compare(b.next, a.next)
  heads.sort(order)
  for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
    yield head.next
    const { done, value } = head.rest.next()
    if (!done) insert(heads, { rest: head.rest, next: value }, order)
    if (pace.isOver) await pace.pause()
  }
}

/** Puts an element at its place in a sorted list. */
function insert<T>(list: T[], element: T, compare: (a: T, b: T) => number): void {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = list[middle]
    if (other !== undefined && compare(other, element) <= 0) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, element)
}
