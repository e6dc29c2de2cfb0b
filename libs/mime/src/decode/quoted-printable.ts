const LF = 0x0a
const CR = 0x0d
const EQUALS = 0x3d
const SPACE = 0x20
const TAB = 0x09

/**
 * Decodes quoted-printable (RFC 2045 6.7) in one pass: codes, soft line breaks, and the blanks that relays add at the
 * end of lines. Invalid codes stay as they are. Implemented here because libqp takes time quadratic to a run of blanks:
 * a mail of 2 MB kept a parser thread for 15 s.
 * @param body whole lines, or the rest of the last one
 */
export function decodeQuotedPrintable(body: Buffer): Buffer {
  const out = Buffer.allocUnsafe(body.length)
  let length = 0
  /** How much of the output stays when the line ends here. */
  let kept = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0
    if (byte === LF || byte === CR) length = kept
    if (byte !== EQUALS) {
      out[length++] = byte
      if (byte !== SPACE && byte !== TAB) kept = length
      continue
    }
    const code = (digit(body[at + 1]) << 4) | digit(body[at + 2])
    const next = code < 0 ? afterSoftBreak(body, at + 1) : at + 3
    if (code >= 0) out[length++] = code
    if (next === undefined) out[length++] = EQUALS
    else at = next - 1
    kept = length
  }
  return out.subarray(0, kept)
}

/** Value of a hexadecimal digit; negative when it is not one. */
function digit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Offset after the line break that an equals sign removes, including blanks before it; undefined if there is none. */
function afterSoftBreak(body: Buffer, from: number): number | undefined {
  let at = from
  while (body[at] === SPACE || body[at] === TAB) at++
  if (at >= body.length) return at
  if (body[at] === CR && body[at + 1] === LF) return at + 2
  return body[at] === LF ? at + 1 : undefined
}
