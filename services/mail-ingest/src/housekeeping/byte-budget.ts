/** Smaller work is not counted: a crowd of it is bounded by how many run at once. */
const SMALL = 1024 * 1024

/**
 * Keeps what is in memory at once below a number of bytes: work that needs more of it waits its turn, first come, first
 * served. What is larger than the whole budget runs when it is alone.
 */
export class ByteBudget {
  readonly #limit: number
  readonly #waiting: { readonly bytes: number; readonly start: () => void }[] = []
  #used = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Does the work once there is room for `bytes`, and keeps the room until the work is done. */
  async within<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (bytes <= SMALL) return work()
    await new Promise<void>((start) => {
      this.#waiting.push({ bytes, start })
      this.#startNext()
    })
    try {
      return await work()
    } finally {
      this.#used -= bytes
      this.#startNext()
    }
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#used += next.bytes
      next.start()
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#limit
  }
}
