import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BodyBound } from '@restante/contracts/validation'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Bytes of a string that are inspected one by one, before the rest of it is skipped by native search. */
const NEAR = 256

/** Which bound is exceeded, if any. */
export type Excess = keyof BodyBound

/** Bytes counted in one turn of the event loop, which takes milliseconds. */
const SLICE = 256 * 1024

/** The bytes that are significant outside of strings; runs of others, such as digits and blanks, are skipped. */
const SIGNIFICANT = new Uint8Array(256)
for (const byte of [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT]) SIGNIFICANT[byte] = 1

/**
 * Compares the structure of JSON text with a bound, on the bytes: parsing megabytes of tiny members would block the
 * process for longer than everything else that a request does. Each comma outside of strings, and each object or list,
 * counts as one part; this is never fewer than the actual members and elements. Text that is not JSON is counted all
 * the same; the parser refuses it afterwards. Between slices of a large body the event loop takes a turn.
 */
export async function excessOf(bytes: Buffer, bound: BodyBound): Promise<Excess | undefined> {
  const structure = new Structure(bytes, bound)
  let excess = structure.count(SLICE)
  while (excess === undefined && !structure.ended) {
    await nextTurn()
    excess = structure.count(SLICE)
  }
  return excess
}

/** Counts the parts and the depth of JSON text, piece by piece. */
class Structure {
  readonly #bytes: Buffer
  readonly #bound: BodyBound
  #at = 0
  #parts = 0
  #depth = 0
  #inString = false

  constructor(bytes: Buffer, bound: BodyBound) {
    this.#bytes = bytes
    this.#bound = bound
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** Continues for about this many bytes: a string is interrupted only where no character is escaped. */
  count(length: number): Excess | undefined {
    const until = Math.min(this.#at + length, this.#bytes.length)
    while (this.#at < until) {
      if (this.#inString) this.#passString(until)
      else {
        const excess = this.#take(until)
        if (excess !== undefined) return excess
      }
    }
    return undefined
  }

  /** Processes the next significant byte. */
  #take(until: number): Excess | undefined {
    let at = this.#at
    while (at < until && SIGNIFICANT[this.#bytes[at] ?? 0] === 0) at++
    this.#at = at
    if (at === until) return undefined
    this.#at++
    switch (this.#bytes[at]) {
      case QUOTE:
        this.#inString = true
        return undefined
      case COMMA:
        return ++this.#parts > this.#bound.parts ? 'parts' : undefined
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (++this.#depth > this.#bound.depth) return 'depth'
        return ++this.#parts > this.#bound.parts ? 'parts' : undefined
      default:
        this.#depth--
        return undefined
    }
  }

  /** Moves past the quote that ends a string, or to `until`. */
  #passString(until: number): void {
    let at = this.#at
    while (at < until) {
      const end = this.#endOfString(at)
      if (end.found) {
        this.#inString = false
        at = end.at + 1
        break
      }
      at = end.at
    }
    this.#at = at
  }

  /**
   * Finds the quote that ends a string, or the position to continue from. @param from where no character is escaped.
   */
  #endOfString(from: number): { readonly found: boolean; readonly at: number } {
    const bytes = this.#bytes
    let at = from
    for (const near = at + NEAR; at < near; at++) {
      const byte = bytes[at]
      if (byte === QUOTE || byte === undefined) return { found: true, at }
      if (byte === BACKSLASH) at++
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return { found: true, at: bytes.length }
    return isEscaped(bytes, at, quote) ? { found: false, at: quote + 1 } : { found: true, at: quote }
  }
}

/** Whether an odd number of backslashes precedes a byte. @param from where no character is escaped. */
function isEscaped(bytes: Buffer, from: number, place: number): boolean {
  let at = place
  while (at > from && bytes[at - 1] === BACKSLASH) at--
  return (place - at) % 2 === 1
}
