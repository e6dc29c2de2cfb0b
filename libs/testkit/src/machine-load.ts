import { availableParallelism, loadavg } from 'node:os'

/** Runnable processes per core while nothing but the tests run. */
const OWN_LOAD = 3

/**
 * A time that a test allows, in milliseconds: as given on a machine that runs only the tests, longer in proportion where
 * other work takes the processor, so that a busy machine fails no test.
 */
export function underLoad(milliseconds: number): number {
  const [lastMinute = 0] = loadavg()
  return milliseconds * Math.max(1, lastMinute / availableParallelism() / OWN_LOAD)
}
