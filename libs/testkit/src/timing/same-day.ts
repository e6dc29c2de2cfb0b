import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from '@restante/service/testing'

/** Resolves when what a test counts by the day (UTC) will fall into one day: at once, or soon after midnight. */
export async function sameDay(): Promise<void> {
  const left = new Date().setUTCHours(24, 0, 0, 0) - Date.now()
  // A timer may be a moment early.
  if (left < 2 * PATIENCE_MS) await sleep(left + 100)
}
