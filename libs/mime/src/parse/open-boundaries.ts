import type { MimeNode } from '@zone-eu/mailsplit'

const DASH = 0x2d

/** The boundaries of a part and of those around it, queried once per line that begins with two dashes. */
export class OpenBoundaries {
  readonly #texts = new Set<string>()
  #shortest = Number.POSITIVE_INFINITY
  #longest = 0

  constructor(innermost: MimeNode | undefined) {
    for (let node = innermost; node; node = node.parentNode || undefined) {
      if (!node._boundary) continue
      this.#texts.add(node._boundary.toString('latin1'))
      this.#shortest = Math.min(this.#shortest, node._boundary.length)
      this.#longest = Math.max(this.#longest, node._boundary.length)
    }
  }

  /** Whether the text after a line's dashes is one of them, with or without the dashes that close its multipart. */
  has(raw: Buffer, from: number, end: number): boolean {
    const length = end - from
    if (length < this.#shortest || length > this.#longest + 2) return false
    if (this.#texts.has(raw.toString('latin1', from, end))) return true
    const closes = raw[end - 1] === DASH && raw[end - 2] === DASH
    return closes && this.#texts.has(raw.toString('latin1', from, end - 2))
  }
}
