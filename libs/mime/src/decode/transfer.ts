import { base64Decoder } from './base64.ts'
import { decodeQuotedPrintable } from './quoted-printable.ts'
import { uuDecoder } from './uuencode.ts'

/** Content-Transfer-Encodings under which the bytes of a part differ from those in the mail (RFC 2045 6). */
export type TransferEncoding = 'base64' | 'quoted-printable' | 'uuencode' | 'none'

/** The names of uuencode, none of which is registered. */
const UUENCODE = new Set(['x-uuencode', 'x-uue', 'uuencode', 'uue'])

/** Longer lines are decoded in several pieces; no standard allows them (RFC 5322 2.1.1). */
const MAX_LINE = 998

const LF = 0x0a
const EQUALS = 0x3d
const SPACE = 0x20
const TAB = 0x09
const NOTHING = Buffer.alloc(0)

/** Bodies are decoded in pieces of this size: whole ones would take many times their size, in a bounded heap. */
const PIECE = 64 * 1024

/** Given the next bytes of a body, and whether they are the last, yields what can be decoded so far. */
type Decoder = (bytes: Buffer, last: boolean) => Iterable<Buffer>

/** The encoding that a field names. An unknown or missing encoding leaves the bytes as they are. */
export function transferEncoding(field: string): TransferEncoding {
  const name = field.split(/[;\s]/, 1)[0]?.toLowerCase()
  if (name === 'base64' || name === 'quoted-printable') return name
  return UUENCODE.has(name ?? '') ? 'uuencode' : 'none'
}

/** The bytes of a body without its transfer encoding, piece by piece. Never fails: invalid codes stay as they are. */
export function decodeTransfer(body: Buffer, encoding: TransferEncoding): Iterable<Buffer> {
  return decoderOf(encoding)(body, true)
}

/** The same for a body that arrives in chunks, wherever they are cut. */
export async function* decodeTransferStream(
  chunks: AsyncIterable<Buffer>,
  encoding: TransferEncoding,
): AsyncGenerator<Buffer> {
  const decode = decoderOf(encoding)
  for await (const chunk of chunks) yield* decode(chunk, false)
  yield* decode(NOTHING, true)
}

function decoderOf(encoding: TransferEncoding): Decoder {
  switch (encoding) {
    case 'base64':
      return base64Decoder(PIECE)
    case 'quoted-printable':
      return quotedPrintableDecoder()
    case 'uuencode':
      return uuDecoder(PIECE)
    case 'none':
      return (bytes) => [bytes]
  }
}

/** Whole lines, as many as fit, so that no code is cut; a line that is too long is decoded in several pieces. */
function quotedPrintableDecoder(): Decoder {
  /** A line whose end has not arrived. */
  let open: Buffer = NOTHING
  return function* (bytes, last) {
    const body = open.length === 0 ? bytes : Buffer.concat([open, bytes])
    let from = 0
    let at = 0
    for (let next = lineEnd(body, at, last); next !== undefined; next = lineEnd(body, at, last)) {
      at = next
      if (body[at - 1] === LF && at - from <= PIECE) continue
      yield decodeQuotedPrintable(body.subarray(from, at))
      from = at
    }
    if (at > from) yield decodeQuotedPrintable(body.subarray(from, at))
    open = body.subarray(at)
  }
}

/**
 * Offset after the line that begins at `at`, or where a too long one may be cut: not inside a code, not after a blank.
 * @returns undefined when the rest of the line has not arrived.
 */
function lineEnd(body: Buffer, at: number, last: boolean): number | undefined {
  const limit = Math.min(at + MAX_LINE, body.length)
  const feed = body.subarray(at, limit).indexOf(LF)
  if (feed >= 0) return at + feed + 1
  if (limit === body.length) return last && at < limit ? limit : undefined
  for (let end = limit; end > at; end--) {
    const before = body[end - 1]
    if (before !== SPACE && before !== TAB && before !== EQUALS && body[end - 2] !== EQUALS) return end
  }
  return limit
}
