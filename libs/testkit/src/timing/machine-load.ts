import { availableParallelism, loadavg } from 'node:os'

export { onThisMachine } from '@restante/service/testing'

/** Runnable processes per core while nothing but the tests run. */
const OWN_LOAD = 3

/**
 * A time limit of a test, in milliseconds. Unchanged on a machine that runs only the tests, and longer in proportion to
 * other load, so that no test fails because the machine is busy.
 */
export function underLoad(milliseconds: number): number {
  const [lastMinute = 0] = loadavg()
  return milliseconds * Math.max(1, lastMinute / availableParallelism() / OWN_LOAD)
}
