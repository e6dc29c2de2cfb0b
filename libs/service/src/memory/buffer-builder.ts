/**
 * Joins chunks as they come. Each is copied to its place at once: kept until the end, chunks and their concatenation
 * would be in memory beside each other, and the chunks would stay for as long as garbage does.
 */
export class BufferBuilder {
  #bytes: Buffer
  #size = 0

  /** @param expected how many bytes are likely to come. Of those that do not come the system gives no memory. */
  constructor(expected = 0) {
    this.#bytes = Buffer.allocUnsafeSlow(expected)
  }

  get size(): number {
    return this.#size
  }

  add(chunk: Uint8Array): void {
    const size = this.#size + chunk.length
    if (size > this.#bytes.length) this.#grow(Math.max(size, 2 * this.#size))
    this.#bytes.set(chunk, this.#size)
    this.#size = size
  }

  /** What has come so far; the collector is not used any more. */
  take(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(length)
    larger.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = larger
  }
}
