const PADDING = -2
/** The value of each byte (RFC 4648 4 and 5); negative when it is not in the alphabet. */
const VALUES = new Int8Array(256).fill(-1)
for (const [value, char] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  VALUES[char.charCodeAt(0)] = value
}
VALUES['-'.charCodeAt(0)] = 62
VALUES['_'.charCodeAt(0)] = 63
VALUES['='.charCodeAt(0)] = PADDING

/**
 * Decodes base64 (RFC 2045 6.8) that arrives in chunks, wherever they are cut. Bytes outside the alphabet are skipped,
 * and padding may end a group anywhere: some clients encode a file piece by piece, or every line on its own. Byte by
 * byte, because handling runs between paddings as separate values took a parser thread 46 s for 40 MB of `A=`.
 * @param most bytes that are decoded at once
 */
export function base64Decoder(most: number): (bytes: Buffer, last: boolean) => Generator<Buffer> {
  /** Bits of the incomplete group. */
  let bits = 0
  let characters = 0

  const decode = (code: Buffer, last: boolean): Buffer => {
    const out = Buffer.allocUnsafe(((code.length * 3) >> 2) + 3)
    let length = 0
    const end = (): void => {
      if (characters === 3) out[length++] = bits >> 10
      if (characters >= 2) out[length++] = characters === 3 ? (bits >> 2) & 0xff : bits >> 4
      bits = 0
      characters = 0
    }
    for (let at = 0; at < code.length; at++) {
      if (characters === 0) {
        // Whole groups at once, as nearly all of them are.
        for (;;) {
          const group = groupAt(code, at)
          if (group < 0) break
          out[length] = group >> 16
          out[length + 1] = group >> 8
          out[length + 2] = group
          length += 3
          at += 4
        }
        if (at >= code.length) break
      }
      const value = VALUES[code[at] ?? 0] ?? -1
      if (value >= 0) {
        bits = (bits << 6) | value
        if (++characters < 4) continue
        out[length] = bits >> 16
        out[length + 1] = (bits >> 8) & 0xff
        out[length + 2] = bits & 0xff
        length += 3
        bits = 0
        characters = 0
      } else if (value === PADDING) end()
    }
    if (last) end()
    return out.subarray(0, length)
  }

  return function* (bytes, last) {
    for (let from = 0; from < bytes.length || (last && from === 0); from += most) {
      yield decode(bytes.subarray(from, from + most), last && from + most >= bytes.length)
    }
  }
}

/** The 24 bits of the four characters at `at`; negative when one of them is not in the alphabet. */
function groupAt(code: Buffer, at: number): number {
  if (at + 4 > code.length) return -1
  const a = VALUES[code[at] ?? 0] ?? -1
  const b = VALUES[code[at + 1] ?? 0] ?? -1
  const c = VALUES[code[at + 2] ?? 0] ?? -1
  const d = VALUES[code[at + 3] ?? 0] ?? -1
  return (a | b | c | d) < 0 ? -1 : (a << 18) | (b << 12) | (c << 6) | d
}
