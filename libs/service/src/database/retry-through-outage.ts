import { setTimeout as wait } from 'node:timers/promises'
import { isInfrastructureError } from './errors.ts'

const AGAIN_MS = 250

/**
 * Repeats work while it fails on the infrastructure: for what must be written down because something outside has
 * happened already, and would happen again if it were forgotten.
 * @throws the work's failure when it is of another kind, or when the signal is aborted.
 */
export async function retryThroughOutage<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || !isInfrastructureError(error)) throw error
      await wait(AGAIN_MS, undefined, { signal }).catch(() => {})
    }
  }
}
