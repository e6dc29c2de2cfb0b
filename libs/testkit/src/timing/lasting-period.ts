import { PATIENCE_MS } from '@restante/service/testing'
import { waitFor } from './wait-for.ts'

/**
 * Near the end of a period of UTC, such as an hour or a day, waits for the next one, so that what a test counts afterwards
 * is in one period.
 */
export async function lastingPeriod(milliseconds: number): Promise<void> {
  const lasts = () => milliseconds - (Date.now() % milliseconds) > PATIENCE_MS
  await waitFor(lasts, { what: 'a period that lasts', timeout: 2 * PATIENCE_MS })
}
