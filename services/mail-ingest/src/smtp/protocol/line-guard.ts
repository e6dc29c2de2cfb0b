import { UnusableContentError } from '../../raw/writer.ts'

/** A mail whose bytes two servers would read as different mails, which no honest server sends. */
export class SmugglingAttemptError extends UnusableContentError {
  override readonly name = 'SmugglingAttemptError'
}

const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e
const SPACE = 0x20
const TAB = 0x09

/**
 * Refuses the building blocks of SMTP smuggling (RFC 5321 2.3.8: lines end with CR LF and neither may occur alone): a
 * bare CR, a bare LF, and a line with a dot and invisible bytes around it. Some servers take such a line for the end of
 * the mail, and the following lines for commands; a mail is therefore refused whole wherever servers could differ.
 *
 * Feed it the content of DATA in chunks of any size, then call `end`.
 */
export class LineGuard {
  #afterCr = false
  /** Since the last CR LF: dots and invisible bytes seen; undefined once the line contains anything else. */
  #suspect: { dots: number; invisible: number } | undefined = { dots: 0, invisible: 0 }

  /** @throws SmugglingAttemptError */
  check(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at++) {
      // Most bytes are in lines that are known to be harmless: they are passed over a few times faster.
      if (!this.#suspect && !this.#afterCr) at = breakFrom(chunk, at)
      const byte = chunk[at]
      if (byte === undefined) return
      this.#take(byte)
    }
  }

  /** @throws SmugglingAttemptError when the content ends inside a line break. */
  end(): void {
    if (this.#afterCr) throw new SmugglingAttemptError('bare CR')
  }

  #take(byte: number): void {
    if (this.#afterCr) {
      if (byte !== LF) throw new SmugglingAttemptError('bare CR')
      this.#endOfLine()
      return
    }
    if (byte === LF) throw new SmugglingAttemptError('bare LF')
    if (byte === CR) this.#afterCr = true
    else this.#inLine(byte)
  }

  #endOfLine(): void {
    if (this.#suspect && this.#suspect.dots === 1 && this.#suspect.invisible > 0) {
      throw new SmugglingAttemptError('disguised end of data')
    }
    this.#afterCr = false
    this.#suspect = { dots: 0, invisible: 0 }
  }

  #inLine(byte: number): void {
    if (!this.#suspect) return
    if (byte === DOT) this.#suspect.dots++
    else if (isInvisible(byte)) this.#suspect.invisible++
    else this.#suspect = undefined
    if (this.#suspect && this.#suspect.dots > 1) this.#suspect = undefined
  }
}

/** The index of the next CR or LF, or the length. */
function breakFrom(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== CR && bytes[at] !== LF) at++
  return at
}

/**
 * Control characters that a lenient parser drops around a dot. Blanks are not included: honest mails, such as patches,
 * have them.
 */
function isInvisible(byte: number): boolean {
  return (byte < SPACE && byte !== TAB) || byte === 0x7f
}
