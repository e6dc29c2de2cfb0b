/**
 * Joins chunks as they arrive. Each is copied into place at once: if chunks were kept until the end, they and their
 * concatenation would be in memory together, and the chunks would stay until garbage collection.
 */
export class BufferBuilder {
  #bytes: Buffer
  #size = 0

  /**
   * @param expected how many bytes are likely to arrive. The system allocates no memory for pages that are never
   * written.
   */
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

  /** The bytes so far; the builder must not be used afterwards. */
  take(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(length)
    larger.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = larger
  }
}
