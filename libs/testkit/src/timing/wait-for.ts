import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from '@restante/service/testing'
import { underLoad } from './machine-load.ts'

export interface WaitOptions {
  /** Part of the error message: `Timed out after 30 s waiting for <what>`. */
  readonly what: string
  /** In milliseconds; default `PATIENCE_MS`. Longer on a machine with other load (`underLoad`). */
  readonly timeout?: number
  /** Polling interval in milliseconds; default 20. */
  readonly interval?: number
}

/**
 * The only place where tests poll. Repeats `condition` until it returns something other than `undefined`, `false` or
 * `null`, and resolves to that. An error of the condition counts as "not yet" and is the cause of the final error.
 */
export async function waitFor<T>(
  condition: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  options: WaitOptions,
): Promise<T> {
  const { what, interval = 20 } = options
  const timeout = underLoad(options.timeout ?? PATIENCE_MS)
  const deadline = performance.now() + timeout
  for (;;) {
    let cause: unknown
    try {
      const value = await condition()
      if (value !== undefined && value !== false && value !== null) return value
    } catch (error) {
      cause = error
    }
    if (performance.now() >= deadline) {
      const why = cause instanceof Error ? `: ${cause.message}` : ''
      throw new Error(`Timed out after ${Number((timeout / 1_000).toFixed(2))} s waiting for ${what}${why}`, { cause })
    }
    await sleep(interval)
  }
}
