/** Why a signal of `withTimeLimit` is aborted when its time has run out: a `TimeoutError`, as that of `AbortSignal.timeout`. */
export class TimeLimitError extends DOMException {
  constructor(ms: number) {
    super(`did not end within ${ms} ms`, 'TimeoutError')
  }
}

/**
 * Does work with a signal that is aborted after `ms` with a TimeLimitError, or together with one of other signals and for its
 * reason. Settles as the work does. When the work ends, nothing is left of the signal: `AbortSignal.timeout`, and what
 * `AbortSignal.any` makes of it, stay in memory until the time has run out, about 2 KB each, and most work ends long before.
 */
export async function withTimeLimit<T>(
  ms: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new TimeLimitError(ms)), ms)
  const followed = signals.map((signal) => ({ signal, abort: () => controller.abort(signal.reason) }))
  for (const { signal, abort } of followed) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  }
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    for (const { signal, abort } of followed) signal.removeEventListener('abort', abort)
  }
}
