/** A mail may need a hundred times its size as heap, so that one of this size may fill that of a thread. */
const LARGE_BYTES = 1024 * 1024

/**
 * The turn of large mails: whatever their lanes, one is read at a time, since each may fill the heap of its thread. The
 * memory of a process is then bounded by one full heap, and not by one for each thread.
 */
export class LargeTurn {
  #taken = false
  readonly #listeners: (() => void)[] = []

  /** Calls the listener whenever the turn has been given back. */
  onFree(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** The largest mail that may be read now. */
  get mostBytes(): number {
    return this.#taken ? LARGE_BYTES : Number.POSITIVE_INFINITY
  }

  /** Takes the turn for so many bytes, if they need it; `leave` must follow once. */
  take(bytes: number): void {
    if (bytes > LARGE_BYTES) this.#taken = true
  }

  leave(bytes: number): void {
    if (bytes <= LARGE_BYTES) return
    this.#taken = false
    for (const listener of this.#listeners) listener()
  }
}
