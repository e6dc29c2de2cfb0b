/// <reference path="./libbase64.d.ts" />
import libbase64 from 'libbase64'
import libqp from 'libqp'

/** Both libraries need many times the memory of what they are given, and V8 ends the process when a thread has none. */
const MAX_PIECE = 64 * 1024
/** libqp takes time quadratic to a run of blanks; no standard allows a longer line (RFC 5322 2.1.1). */
const MAX_LINE = 998

const LF = 0x0a
const EQUALS = 0x3d
const SPACE = 0x20
const TAB = 0x09

/** Bytes of a part's body without its Content-Transfer-Encoding (RFC 2045 6). Never fails: what is no code stays as it is. */
export function decodeTransfer(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return join(paddedRuns(body.toString('latin1')), libbase64.decode)
  if (encoding === 'quoted-printable') return join(lines(body), (text) => libqp.decode(text.toString('latin1')))
  return body
}

function join<Piece>(pieces: Iterable<Piece>, decode: (piece: Piece) => Buffer): Buffer {
  return Buffer.concat([...pieces].map(decode))
}

/** Base64 cut only where padding ends a run, as clients write that encode a file piece by piece. */
function* paddedRuns(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const within = text.lastIndexOf('=', from + MAX_PIECE)
    const padding = within > from ? within : text.indexOf('=', from + MAX_PIECE)
    const to = padding < 0 ? text.length : padding + 1
    yield text.slice(from, to)
    from = to
  }
}

/** Whole lines, as many as fit, so that no code is cut; a line that is too long comes in several pieces. */
function* lines(body: Buffer): Generator<Buffer> {
  let from = 0
  for (let at = 0; at < body.length; ) {
    const next = lineEnd(body, at)
    const isWhole = body[next - 1] === LF
    if (!isWhole || next - from > MAX_PIECE) {
      yield body.subarray(from, next)
      from = next
    }
    at = next
  }
  yield body.subarray(from)
}

/** Offset after the line that begins at `at`, or where a too long one may be cut: not in a code, not after a blank. */
function lineEnd(body: Buffer, at: number): number {
  const limit = Math.min(at + MAX_LINE, body.length)
  const feed = body.subarray(at, limit).indexOf(LF)
  if (feed >= 0) return at + feed + 1
  for (let end = limit; end > at && limit < body.length; end--) {
    const last = body[end - 1]
    if (last !== SPACE && last !== TAB && last !== EQUALS && body[end - 2] !== EQUALS) return end
  }
  return limit
}
