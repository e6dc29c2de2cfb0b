const EQUALS = 0x3d
const LF = 0x0a
const CR = 0x0d

/** Where so many bytes from the first padding on hold no code, the code has ended. */
const MAX_PADDING = 16

const BASE64 = new Int8Array(256).fill(-1)
for (const [value, char] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  BASE64[char.charCodeAt(0)] = value
}

/** Bytes of a part's body without its Content-Transfer-Encoding (RFC 2045 6). Never fails: what is no code stays as it is. */
export function decodeTransfer(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return decodeBase64(body)
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(body)
  return body
}

function decodeBase64(body: Buffer): Buffer {
  const padding = body.indexOf(EQUALS)
  const ends = padding < 0 || !/[\w+/-]/.test(body.toString('latin1', padding, padding + MAX_PADDING))
  return ends ? Buffer.from(body.toString('latin1'), 'base64') : decodePaddedRuns(body)
}

/** Base64 with padding in the middle, as clients write that encode a file piece by piece. The native decoder stops there. */
function decodePaddedRuns(body: Buffer): Buffer {
  const out = Buffer.allocUnsafe(Math.ceil((body.length * 3) / 4))
  let length = 0
  let bits = 0
  let held = 0
  for (const byte of body) {
    if (byte === EQUALS) held = 0
    const value = BASE64[byte] ?? -1
    if (value < 0) continue
    bits = ((bits << 6) | value) & 0xffffff
    held += 6
    if (held < 8) continue
    held -= 8
    out[length++] = (bits >> held) & 0xff
  }
  return out.subarray(0, length)
}

/** RFC 2045 6.7, and the Q encoding of RFC 2047 4.2 when `underscoreIsSpace`. */
export function decodeQuotedPrintable(body: Buffer, underscoreIsSpace = false): Buffer {
  const out = Buffer.allocUnsafe(body.length)
  let length = 0
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] ?? 0
    if (byte === EQUALS) {
      const high = hexDigit(body[i + 1])
      const low = hexDigit(body[i + 2])
      if (high >= 0 && low >= 0) {
        out[length++] = high * 16 + low
        i += 2
        continue
      }
      const end = softBreak(body, i + 1)
      if (end > 0) {
        i = end
        continue
      }
    }
    out[length++] = underscoreIsSpace && byte === 0x5f ? 0x20 : byte
  }
  return out.subarray(0, length)
}

/** Index of the line feed (or last byte) that ends a soft line break beginning at `from`, else 0. */
function softBreak(body: Buffer, from: number): number {
  let i = from
  while (body[i] === 0x20 || body[i] === 0x09) i++
  if (i >= body.length) return body.length
  if (body[i] === CR) i++
  return body[i] === LF ? i : 0
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  if (byte >= 0x41 && byte <= 0x46) return byte - 0x37
  if (byte >= 0x61 && byte <= 0x66) return byte - 0x57
  return -1
}

/** Joins the soft-broken lines of `format=flowed` text (RFC 3676): quoting depths stay apart, the signature mark stays. */
export function unflow(text: string, deleteSpace: boolean): string {
  const out: string[] = []
  let open = ''
  let openDepth = -1
  for (const raw of text.split('\n')) {
    const depth = quoteDepth(raw)
    const unquoted = raw.slice(depth)
    const line = unquoted.startsWith(' ') ? unquoted.slice(1) : unquoted
    const continues = openDepth === depth
    if (openDepth >= 0 && !continues) out.push(quoted(open, openDepth))
    const soft = line.endsWith(' ') && line !== '-- '
    const piece = soft && deleteSpace ? line.slice(0, -1) : line
    open = continues ? open + piece : piece
    openDepth = soft ? depth : -1
    if (!soft) out.push(quoted(open, depth))
  }
  if (openDepth >= 0) out.push(quoted(open, openDepth))
  return out.join('\n')
}

function quoteDepth(line: string): number {
  let depth = 0
  while (line[depth] === '>') depth++
  return depth
}

function quoted(line: string, depth: number): string {
  const mark = '>'.repeat(depth)
  return depth === 0 || line === '' ? mark + line : `${mark} ${line}`
}
