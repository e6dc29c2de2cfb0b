import { setTimeout as sleep } from 'node:timers/promises'
import { underLoad } from './machine-load.ts'

export interface WaitOptions {
  /** Said in the failure: `Waited 10 s in vain for <what>`. */
  readonly what: string
  /** In milliseconds; default 10,000. A machine with other work to do gets more (`underLoad`). */
  readonly timeout?: number
  /** Between two looks, in milliseconds; default 20. */
  readonly interval?: number
}

/**
 * The one place where tests poll. Looks again until `condition` gives something else than `undefined`, `false` or
 * `null`, and resolves to it. What the condition throws counts as "not yet" and is the cause of the final failure.
 */
export async function waitFor<T>(
  condition: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  options: WaitOptions,
): Promise<T> {
  const { what, interval = 20 } = options
  const timeout = underLoad(options.timeout ?? 10_000)
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
      throw new Error(`Waited ${Number((timeout / 1_000).toFixed(2))} s in vain for ${what}${why}`, { cause })
    }
    await sleep(interval)
  }
}
