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

/** Waits between attempts: doubling from `first` to `longest` milliseconds, a fifth of it random. */
export function backoff(attempt: number, first: number, longest: number): number {
  return Math.min(first * 2 ** Math.min(attempt, 20), longest) * (0.9 + Math.random() * 0.2)
}

/** Settles as the promise does, or resolves with `undefined` after `ms`. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
