import type { Pace } from '../window/pace.ts'

/** Where an element lies in a list: at a time, in milliseconds, and among those of one time by its id. */
export interface Place {
  readonly at: number
  readonly id: string
}

/** The order of lists of dates (calendar 8). */
export function inOrder(a: Place, b: Place): number {
  if (a.at !== b.at) return a.at - b.at
  return a.id < b.id ? -1 : Number(a.id > b.id)
}

/** A sequence in order. Nothing of it is computed until an element is asked for. */
export interface Sequence<T extends Place> {
  /** No element lies earlier. */
  readonly atLeast: number
  readonly elements: Iterator<T>
}

interface Head<T> {
  readonly elements: Iterator<T>
  /** Undefined: nothing was computed yet. */
  readonly next: T | undefined
  readonly place: Place
}

/**
 * The elements of sequences in one order. Of each sequence only the elements up to its first that is not asked for any more
 * are computed, and none of one that begins later.
 */
export async function* merge<T extends Place>(sequences: Iterable<Sequence<T>>, pace: Pace): AsyncGenerator<T, void> {
  // The last one is the next; one of which nothing is known yet comes before others of its time.
  const heads = Array.from(sequences, ({ atLeast, elements }): Head<T> => {
    return { elements, next: undefined, place: { at: atLeast, id: '' } }
  }).sort(lastFirst)
  for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
    if (head.next !== undefined) yield head.next
    const { done, value } = head.elements.next()
    if (!done) insert(heads, { elements: head.elements, next: value, place: value })
    if (pace.isOver) await pace.pause()
  }
}

function lastFirst(a: { readonly place: Place }, b: { readonly place: Place }): number {
  return inOrder(b.place, a.place)
}

/** Puts an element at its place in a sorted list. */
function insert<T>(heads: Head<T>[], head: Head<T>): void {
  let low = 0
  let high = heads.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = heads[middle]
    if (other !== undefined && lastFirst(other, head) <= 0) low = middle + 1
    else high = middle
  }
  heads.splice(low, 0, head)
}
