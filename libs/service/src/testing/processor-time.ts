/** How many times larger the larger input is. */
const LARGER = 8
/** Below it the clock, the compiler and the collection of garbage decide. */
const LEAST_MS = 5
const TRIES = 3

/** Processor time that some work takes this thread, in milliseconds. On the clock other processes would count. */
export function processorMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Growth that is no longer proportional: half way, in powers, from 1 to what work that is quadratic to its input has. */
export const MOST_GROWTH = Math.sqrt(LARGER)

/**
 * How much faster than its input the processor time of some work grows, whatever the machine: 1 when it is proportional,
 * and 8 when it is quadratic. The least of three tries, because the compiler and the garbage collection may fall into any.
 */
export function growthOf<Input>(size: number, make: (size: number) => Input, work: (input: Input) => unknown): number {
  const [small, large] = [make(Math.floor(size / LARGER)), make(size)]
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < TRIES && least >= MOST_GROWTH; attempt++) {
    const reference = Math.max(
      LEAST_MS,
      processorMs(() => work(small)),
    )
    least = Math.min(least, processorMs(() => work(large)) / reference / LARGER)
  }
  return least
}

/** Processor time that reading a document takes the machine on which the limits of tests were set. */
const DOCUMENT_MS = 20

/**
 * A limit of processor time, in milliseconds, that a promise gives for an ordinary machine: unchanged there, and longer on
 * one that is slower, in proportion to a document that both read.
 */
export function onThisMachine(milliseconds: number): number {
  const document = JSON.stringify(
    Array.from({ length: 60_000 }, (_, id) => ({ id, text: `Entry ${id}`, of: [id, null] })),
  )
  const tries = Array.from({ length: TRIES }, () => processorMs(() => JSON.parse(document)))
  return milliseconds * Math.max(1, Math.min(...tries) / DOCUMENT_MS)
}
