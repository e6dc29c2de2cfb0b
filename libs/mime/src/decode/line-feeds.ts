const CR = 0x0d
const LF = 0x0a

/**
 * The bytes of a text with every line end as a line feed, for any charset in which CR and LF are the bytes that ASCII
 * has for them. Works on bytes, because a pattern on a text keeps every match in memory: 30 bytes for each of five
 * million.
 */
export function withLineFeeds(bytes: Buffer): Buffer {
  if (!bytes.includes(CR)) return bytes
  const out = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === CR && bytes[at + 1] === LF) continue
    out[length++] = byte === CR ? LF : byte
  }
  return out.subarray(0, length)
}
