import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts'

/** Fields that the judge takes apart. Taking one apart may cost time quadratic to its length. */
const TAKEN_APART = /^(?:dkim-signature|arc-[a-z-]+|from|return-path|received|content-type)[ \t]*:/i
const SIGNATURE = /^dkim-signature[ \t]*:/i
/** Of one such field, and of all together. Those of honest mail, forwarded several times, have a third of it. */
const FIELD_BYTES = 8 * 1024
const ALL_BYTES = 96 * 1024
/** Each may ask for a digest of its own over the whole body (RFC 6376 6.1: the number may be limited). */
const SIGNATURES = 10
const PIECE = 64 * 1024

/**
 * The mail for whoever judges its sender, so that no mail can keep the process from its other work: piece by piece, with
 * a turn for others in between; without what no honest header has. A signature that is left out proves nothing, and a
 * signature over something that is left out fails: nobody gains by it.
 */
export function judgedMail(raw: Buffer): Readable {
  return Readable.from(pieces(raw), { objectMode: false })
}

async function* pieces(raw: Buffer): AsyncGenerator<Buffer> {
  const bodyStart = startOfBody(raw)
  const fields = judgedFields(raw.subarray(0, bodyStart))
  yield Buffer.from(`${fields.map((field) => `${field}\r\n`).join('')}\r\n`, 'latin1')
  for (let at = bodyStart; at < raw.length; at += PIECE) {
    await turn()
    const piece = raw.subarray(at, at + PIECE)
    // The judge puts a run of blanks together anew with every piece of it.
    if (piece.length === PIECE && piece.every(isBlank)) return
    yield piece
  }
}

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09

/** @param header with the empty line at its end */
function judgedFields(header: Buffer): string[] {
  const { headerBytes, headerFields } = LIMITS.mime
  const fields = header.toString('latin1', 0, headerBytes).split(/\r\n(?![ \t])/)
  // The last is half a field when the limit cut it, else the empty line.
  const whole = header.length > headerBytes ? fields.slice(0, -1) : fields.filter((field) => field !== '')
  let bytes = 0
  let signatures = 0
  return whole.slice(0, headerFields).filter((field) => {
    if (!TAKEN_APART.test(field)) return true
    if (field.length > FIELD_BYTES || bytes + field.length > ALL_BYTES) return false
    if (SIGNATURE.test(field) && ++signatures > SIGNATURES) return false
    bytes += field.length
    return true
  })
}

function startOfBody(raw: Buffer): number {
  if (raw.toString('latin1', 0, 2) === '\r\n') return 2
  const end = raw.indexOf('\r\n\r\n')
  return end < 0 ? raw.length : end + 4
}
