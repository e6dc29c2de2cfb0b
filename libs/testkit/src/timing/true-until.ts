import { type WaitOptions, waitFor } from './wait-for.ts'

/**
 * Asks until `condition` is no longer true. @returns how long after this call the last question began that was still
 * answered with true, in milliseconds. What is promised within a second holds for what is asked after that second; an
 * answer to what was asked before may be as late as the machine is busy.
 */
export async function trueUntil(condition: () => Promise<boolean>, options: WaitOptions): Promise<number> {
  const begun = performance.now()
  let last = 0
  await waitFor(async () => {
    const asked = performance.now() - begun
    if (!(await condition())) return true
    last = asked
    return false
  }, options)
  return last
}
