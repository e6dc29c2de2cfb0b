/** Waits between attempts, in milliseconds. */
export interface BackoffPolicy {
  readonly firstMs: number
  readonly longestMs: number
}

/** Keeps processes that failed together from retrying together. */
const JITTER = 0.1

/** The wait after this many failures in a row, from 1: `firstMs` after the first, then doubling up to `longestMs`. */
export function backoff(failures: number, { firstMs, longestMs }: BackoffPolicy): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs)
}

/** The same wait, varied by a tenth in both directions. */
export function jitteredBackoff(failures: number, policy: BackoffPolicy): number {
  return backoff(failures, policy) * (1 - JITTER + Math.random() * 2 * JITTER)
}

/** Resolves after `ms` or as soon as the signal is aborted, whichever comes first; it never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}

/**
 * Settles as the work does, or after `ms` as `late` does, which may throw. The work itself continues; only the wait for
 * it ends.
 */
export async function within<T, Late>(ms: number, work: Promise<T>, late: () => Late): Promise<T | Late> {
  const { promise: expired, resolve: expire } = Promise.withResolvers<void>()
  const timer = setTimeout(expire, ms)
  try {
    return await Promise.race([work, expired.then(late)])
  } finally {
    clearTimeout(timer)
  }
}
