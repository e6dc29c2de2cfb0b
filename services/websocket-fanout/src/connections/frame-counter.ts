/** Length of a frame's header without its mask (RFC 6455 5.2): the second byte gives the size of the length field. */
const SHORT_HEAD = 2
const LONGEST_HEAD = 10
const MASK_BYTES = 4

/**
 * Counts the frames that a client sends, on the bytes of its socket. The WebSocket library reports whole messages,
 * pings and pongs, but not the continuation frames of a message, of which a client can send any number without ever
 * ending it.
 */
export class FrameCounter {
  /** The header of the frame that has begun. */
  readonly #head = Buffer.alloc(LONGEST_HEAD)
  #headBytes = 0
  /** Bytes of the current frame's mask and payload that are still to arrive. */
  #rest = 0

  /** @returns how many frames begin in these bytes, which follow those of the previous call. */
  begunIn(chunk: Buffer): number {
    let begun = 0
    for (let at = 0; at < chunk.length; ) {
      if (this.#rest > 0) {
        const passed = Math.min(this.#rest, chunk.length - at)
        this.#rest -= passed
        at += passed
        continue
      }
      if (this.#headBytes === 0) begun++
      this.#head.writeUInt8(chunk.readUInt8(at++), this.#headBytes++)
      this.#endHead()
    }
    return begun
  }

  #endHead(): void {
    if (this.#headBytes < SHORT_HEAD) return
    const second = this.#head.readUInt8(1)
    const short = second & 0x7f
    const mask = (second & 0x80) === 0 ? 0 : MASK_BYTES
    if (short < 126) this.#beginPayload(mask + short)
    else if (short === 126 && this.#headBytes === 4) this.#beginPayload(mask + this.#head.readUInt16BE(2))
    else if (this.#headBytes === LONGEST_HEAD) this.#beginPayload(mask + Number(this.#head.readBigUInt64BE(2)))
  }

  #beginPayload(bytes: number): void {
    this.#headBytes = 0
    this.#rest = bytes
  }
}
