const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
/** The highest byte of a code; `end` begins with a higher one. */
const LAST = 0x60
const BEGIN = /^begin [0-7]{3,4} /
/** A longer first line names no file. */
const MAX_BEGIN = 1_000
const NOTHING = Buffer.alloc(0)

/**
 * Decodes uuencode (POSIX.1), which some senders name as a transfer encoding, from chunks wherever they are cut. What
 * does not begin with a `begin` line stays as it is; what follows the end is left out.
 * @param most bytes that are decoded at once
 */
export function uuDecoder(most: number): (bytes: Buffer, last: boolean) => Generator<Buffer> {
  let state: 'begin' | 'code' | 'raw' | 'end' = 'begin'
  /** The beginning of the body, until its first line is complete. */
  let start: Buffer = NOTHING
  const decode = lineDecoder()

  return function* (bytes, last) {
    let rest = bytes
    if (state === 'begin') {
      start = Buffer.concat([start, bytes])
      const from = start.subarray(0, MAX_BEGIN).findIndex((byte) => byte !== LF && byte !== CR)
      const feed = from < 0 ? -1 : start.indexOf(LF, from)
      if (feed < 0 && !last && start.length - from <= MAX_BEGIN) return
      const begins = feed >= 0 && BEGIN.test(start.toString('latin1', from, Math.min(feed, from + MAX_BEGIN)))
      state = begins ? 'code' : 'raw'
      rest = begins ? start.subarray(feed + 1) : start
      start = NOTHING
    }
    if (state === 'raw') yield rest
    for (let at = 0; state === 'code' && at < rest.length; at += most) {
      const { decoded, ended } = decode(rest.subarray(at, at + most))
      if (ended) state = 'end'
      yield decoded
    }
  }
}

/** Decodes lines of a length and groups of four characters, each of which is six bits. */
function lineDecoder(): (code: Buffer) => { decoded: Buffer; ended: boolean } {
  /** Bytes that the current line still holds; undefined at its beginning. */
  let left: number | undefined
  let bits = 0
  let characters = 0

  return (code) => {
    const out = Buffer.allocUnsafe(code.length + 3)
    let length = 0
    const add = (value: number): void => {
      bits = (bits << 6) | value
      if (++characters < 4) return
      for (let shift = 16; shift >= 0 && left; shift -= 8, left--) out[length++] = (bits >> shift) & 0xff
      bits = 0
      characters = 0
    }
    for (const byte of code) {
      if (byte === LF) {
        // Relays remove spaces at the end of lines, which are zeros.
        while (characters > 0) add(0)
        left = undefined
      } else if (byte !== CR && left === undefined) {
        if (byte > LAST || byte < SPACE) return { decoded: out.subarray(0, length), ended: true }
        left = (byte - SPACE) & 0x3f
      } else if (byte !== CR && left) add((byte - SPACE) & 0x3f)
    }
    return { decoded: out.subarray(0, length), ended: false }
  }
}
