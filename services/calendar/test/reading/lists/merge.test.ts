import { merge, type Sequence } from '../../../src/reading/lists/merge.ts'
import { Pace } from '../../../src/reading/window/pace.ts'

interface Element {
  readonly at: number
  readonly id: string
}

const element = (at: number, id = 'x'): Element => ({ at, id })
const sequence = (elements: Iterable<Element>, atLeast = Number.NEGATIVE_INFINITY): Sequence<Element> => {
  return { atLeast, elements: elements[Symbol.iterator]() }
}

async function firstOf(count: number, sequences: Sequence<Element>[]): Promise<Element[]> {
  const found: Element[] = []
  for await (const value of merge(sequences, new Pace())) if (found.push(value) === count) break
  return found
}

it('merges sequences into one order, by times and then by ids', async () => {
  const sequences = [
    sequence([element(1), element(4, 'b'), element(9)]),
    sequence([]),
    sequence([element(2), element(3)], 2),
    sequence([element(4, 'a'), element(4, 'c')], 4),
  ]
  const found = await firstOf(100, sequences)
  expect(found.map(({ at, id }) => `${at}${id}`)).toEqual(['1x', '2x', '3x', '4a', '4b', '4c', '9x'])
})

it('computes of each sequence no more than is asked for, and nothing of one that begins later', async () => {
  let computed = 0
  function* endless(from: number): Generator<Element> {
    for (let at = from; ; at += 10) {
      computed++
      yield element(at)
    }
  }
  const tens = Array.from({ length: 10 }, (_, index) => sequence(endless(index)))
  const later = Array.from({ length: 10 }, () => sequence(endless(30), 30))
  const found = await firstOf(25, [...tens, ...later])
  expect(found.map(({ at }) => at)).toEqual(Array.from({ length: 25 }, (_, index) => index))
  // The first of each of ten, and one more for each that was taken, but for the last.
  expect(computed).toBe(10 + 24)
})
