import { setTimeout as wait } from 'node:timers/promises'
import { isInfrastructureError } from '../errors/infrastructure.ts'

const AGAIN_MS = 250

/**
 * Repeats work while it fails on the infrastructure. For facts that must be recorded because their external effect has
 * already happened, and would happen again if they were lost.
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
