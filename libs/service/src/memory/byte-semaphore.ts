export interface ByteSemaphoreOptions {
  /** Bytes that work may have in memory at once. */
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
 * Keeps what is in memory at once below a number of bytes: work that needs more of it waits its turn, first come, first
 * served. What is larger than the whole budget runs when it is alone.
 */
export class ByteSemaphore {
  readonly #options: Required<ByteSemaphoreOptions>
  readonly #waiting: Waiting[] = []
  #used = 0

  constructor(options: ByteSemaphoreOptions) {
    this.#options = { uncounted: UNCOUNTED, ...options }
  }

  /**
   * Does the work once there is room for `bytes`, and keeps the room until the work is done.
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

  /** Waits for room and takes it; `leave` must follow once. @throws the reason of `signal`, and then none is taken. */
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
