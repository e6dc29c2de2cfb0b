import type { BodyBound } from '@restante/contracts'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Bytes of a string that are looked at one by one, before the rest of it is skipped by native search. */
const NEAR = 256

/** What is beyond its bound, if anything. */
export type Excess = keyof BodyBound

/**
 * Compares the structure of JSON text with a bound, on the bytes: parsing megabytes of tiny members would block the
 * process for longer than everything else that a request does. Each comma outside of strings, and each object or list,
 * counts as one part: that is never less than the members and elements there are. Text that is not JSON is counted all
 * the same; the parser refuses it afterwards.
 */
export function excessOf(bytes: Buffer, bound: BodyBound): Excess | undefined {
  let parts = 0
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at + 1)
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (++depth > bound.depth) return 'depth'
        if (++parts > bound.parts) return 'parts'
        break
      case COMMA:
        if (++parts > bound.parts) return 'parts'
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--
    }
  }
  return undefined
}

/** The place of the quote that ends a string, or the end of the bytes. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length) {
    for (const near = at + NEAR; at < near; at++) {
      const byte = bytes[at]
      if (byte === QUOTE || byte === undefined) return at
      if (byte === BACKSLASH) at++
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return bytes.length
    if (!isEscaped(bytes, at, quote)) return quote
    at = quote + 1
  }
  return at
}

/** Whether an odd number of backslashes stands ahead of a byte. @param from where no character is escaped. */
function isEscaped(bytes: Buffer, from: number, place: number): boolean {
  let at = place
  while (at > from && bytes[at - 1] === BACKSLASH) at--
  return (place - at) % 2 === 1
}
