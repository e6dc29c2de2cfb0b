import { merge } from '../../src/reading/lists/merge.ts'
import { Pace } from '../../src/reading/window/pace.ts'

const ascending = (a: number, b: number) => a - b

async function firstOf(count: number, sequences: Iterator<number>[]): Promise<number[]> {
  const found: number[] = []
  for await (const value of merge(sequences, ascending, new Pace())) if (found.push(value) === count) break
  return found
}

it('merges sorted sequences into one order', async () => {
  const sequences = [[1, 4, 9], [], [2, 3, 10, 11], [4]].map((list) => list.values())
  expect(await firstOf(100, sequences)).toEqual([1, 2, 3, 4, 4, 9, 10, 11])
})

it('computes of each sequence no more than is asked for', async () => {
  let computed = 0
  function* endless(from: number): Generator<number> {
    for (let value = from; ; value += 10) {
      computed++
      yield value
    }
  }
  const sequences = Array.from({ length: 10 }, (_, index) => endless(index))
  expect(await firstOf(25, sequences)).toEqual(Array.from({ length: 25 }, (_, index) => index))
  // The first of each, and one more for each that was taken, but for the last.
  expect(computed).toBe(10 + 24)
})
