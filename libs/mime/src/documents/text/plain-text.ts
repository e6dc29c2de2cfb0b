/** Line ends of any kind, and the characters that no plain text has. */
const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g
const CONTROLS = /[^\P{Cc}\t\n]/gu

/** Text that is put together in the order in which it is read, up to a number of characters. */
export class PlainText {
  readonly #most: number
  readonly #pieces: string[] = []
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Nothing more is kept, so that reading on is pointless. */
  get isFull(): boolean {
    return this.#length >= this.#most
  }

  add(text: string): void {
    if (text === '' || this.isFull) return
    const kept = text.slice(0, this.#most - this.#length)
    this.#pieces.push(kept)
    this.#length += kept.length
  }

  /**
   * The whole text: lines end with a line feed and not with blanks, at most one empty line separates others, and there is
   * no control character, NUL or lone surrogate.
   */
  toString(): string {
    const lines = this.#pieces.join('').replace(LINE_ENDS, '\n').replace(CONTROLS, '').toWellFormed().split('\n')
    const kept: string[] = []
    for (const line of lines) {
      const trimmed = line.trimEnd()
      if (trimmed !== '' || kept.at(-1) !== '') kept.push(trimmed)
    }
    return kept.join('\n').trim()
  }
}
