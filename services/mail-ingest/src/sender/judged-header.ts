import { LIMITS } from '@restante/contracts/vocabulary'

/** Fields that are parsed for authentication. Parsing one may take time quadratic in its length. */
const TAKEN_APART = /^(?:dkim-signature|arc-[a-z-]+|return-path|received|content-type)[ \t]*:/i
const SIGNATURE = /^dkim-signature[ \t]*:/i
const SIGNED = /^(?:dkim-signature|arc-message-signature)[ \t]*:/i
/**
 * Limits for one such field, and for all together. The fields of honest mail that was forwarded several times take a
 * third of this.
 */
const FIELD_BYTES = 8 * 1024
const ALL_BYTES = 96 * 1024
/**
 * Maximum number of signatures to verify: each may require a digest of its own over the whole body (RFC 6376 6.1 allows
 * a limit).
 */
const SIGNATURES = 10

/** Fields that RFC 5322 3.6 and RFC 2045 allow once. When one is repeated, mail programs differ on which they show. */
const ONCE = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'content-type',
  'content-transfer-encoding',
  'mime-version',
])

/** The header of a mail as used for authentication. */
export interface JudgedHeader {
  /** Its fields with the empty line at their end, in `latin1`. */
  readonly text: string
  /** Whether a field that may occur only once is repeated. */
  readonly repeatsField: boolean
  /** Whether there is a signature to verify. */
  readonly signed: boolean
}

/**
 * Reduces a header to what is authenticated. Parts that no honest header has are left out, so that the effort for a
 * mail is limited by its size. This is safe: a signature that is left out proves nothing, and a signature over a field
 * that is left out fails. `From` is never left out.
 * @param header with the empty line at its end
 */
export function judgedHeader(header: Buffer): JudgedHeader {
  const { headerBytes, headerFields } = LIMITS.mime
  const fields = header.toString('latin1', 0, headerBytes).split(/\r\n(?![ \t])/)
  // If the limit cut the header, the last element is an incomplete field; otherwise it is the empty line.
  const whole = header.length > headerBytes ? fields.slice(0, -1) : fields.filter((field) => field !== '')
  const read = whole.slice(0, headerFields)
  const judged = read.filter(withinLimits())
  return {
    text: `${judged.map((field) => `${field}\r\n`).join('')}\r\n`,
    repeatsField: repeats(read),
    signed: judged.some((field) => SIGNED.test(field)),
  }
}

/** Where the body of a mail begins: after the first empty line. */
export function startOfBody(raw: Buffer): number {
  if (raw.toString('latin1', 0, 2) === '\r\n') return 2
  const end = raw.indexOf('\r\n\r\n')
  return end < 0 ? raw.length : end + 4
}

function withinLimits(): (field: string) => boolean {
  let bytes = 0
  let signatures = 0
  return (field) => {
    if (!TAKEN_APART.test(field)) return true
    if (field.length > FIELD_BYTES || bytes + field.length > ALL_BYTES) return false
    if (SIGNATURE.test(field) && ++signatures > SIGNATURES) return false
    bytes += field.length
    return true
  }
}

function repeats(fields: readonly string[]): boolean {
  const seen = new Set<string>()
  return fields.some((field) => {
    const name = (/^([\x21-\x39\x3b-\x7e]+)\s*:/.exec(field)?.[1] ?? '').toLowerCase()
    if (!ONCE.has(name)) return false
    if (seen.has(name)) return true
    seen.add(name)
    return false
  })
}
