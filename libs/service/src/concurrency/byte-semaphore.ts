export interface ByteSemaphoreOptions {
  /** Bytes that concurrent work may have in memory. */
  readonly bytes: number
  /** Work of so few bytes is not counted, where something else bounds how much of it there is. Default 1 MB. */
  readonly uncounted?: number
}

interface Waiting {
  readonly bytes: number
  readonly start: () => void
}

const UNCOUNTED = 1024 * 1024

/**
 * A weighted semaphore that bounds the bytes in memory: work that would exceed the bound waits, first come, first
 * served. Work larger than the whole bound runs alone.
 */
export class ByteSemaphore {
  readonly #options: Required<ByteSemaphoreOptions>
  readonly #waiting: Waiting[] = []
  #used = 0

  constructor(options: ByteSemaphoreOptions) {
    this.#options = { uncounted: UNCOUNTED, ...options }
  }

  /**
   * Runs the work once there is room for `bytes`, and keeps the room until the work is done.
   * @throws the reason of `signal`, which ends the wait, not the work.
   */
  async within<T>(bytes: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.enter(bytes, signal)
    try {
      return await work()
    } finally {
      this.leave(bytes)
    }
  }

  /** Waits for room and takes it; `leave` must follow once. @throws the reason of `signal`; no room is taken then. */
  async enter(bytes: number, signal?: AbortSignal): Promise<void> {
    if (bytes > this.#options.uncounted) await this.#turn(bytes, signal)
  }

  leave(bytes: number): void {
    if (bytes <= this.#options.uncounted) return
    this.#used -= bytes
    this.#startNext()
  }

  async #turn(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal?.reason)
        this.#startNext()
      }
      const start = (): void => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const waiting: Waiting = { bytes, start }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(waiting)
      this.#startNext()
    })
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#used += next.bytes
      next.start()
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#options.bytes
  }
}
