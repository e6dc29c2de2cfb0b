import { waitFor } from './wait-for.ts'

/** Longer than what a test counts takes on a busy machine. */
const LASTS_MS = 20_000

/**
 * Near the end of a period of UTC, such as an hour or a day, waits for the next one, so that what a test counts afterwards
 * is in one period.
 */
export async function lastingPeriod(milliseconds: number): Promise<void> {
  const lasts = () => milliseconds - (Date.now() % milliseconds) > LASTS_MS
  await waitFor(lasts, { what: 'a period that lasts', timeout: 2 * LASTS_MS })
}
