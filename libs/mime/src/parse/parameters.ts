import { decodeCharset } from './charset.ts'
import { decodeWords } from './encoded-words.ts'

const MAX_PARAMETERS = 100

/** `value; name=text; ...` of Content-Type and Content-Disposition, value and names in lower case. */
export interface Parameterized {
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
}

interface Segment {
  readonly order: number
  readonly encoded: boolean
  readonly text: string
}

/** Reads a structured value with its parameters: quoted strings, RFC 2231 continuations and charsets, and the RFC 2047 words that clients put there against the rules. */
export function parseParameterized(raw: string): Parameterized {
  const [value = '', ...rest] = splitOutsideQuotes(raw)
  const segments = new Map<string, Segment[]>()
  const parameters = new Map<string, string>()
  for (const item of rest.slice(0, MAX_PARAMETERS)) {
    const equals = item.indexOf('=')
    if (equals < 0) continue
    const key = item.slice(0, equals).trim().toLowerCase()
    const text = unquote(item.slice(equals + 1).trim())
    const star = key.indexOf('*')
    if (star < 0) {
      if (!parameters.has(key)) parameters.set(key, decodeWords(text))
      continue
    }
    const order = Number.parseInt(key.slice(star + 1), 10)
    const list = segments.get(key.slice(0, star)) ?? []
    list.push({ order: Number.isNaN(order) ? 0 : order, encoded: key.endsWith('*'), text })
    segments.set(key.slice(0, star), list)
  }
  for (const [name, list] of segments) parameters.set(name, joinSegments(list))
  return { value: value.trim().toLowerCase(), parameters }
}

function joinSegments(list: readonly Segment[]): string {
  const sorted = list.toSorted((a, b) => a.order - b.order)
  const first = sorted[0]
  const language = first?.encoded ? first.text.indexOf("'") : -1
  const prefix = language < 0 ? 0 : (first?.text.indexOf("'", language + 1) ?? -1) + 1
  const charset = prefix > 0 ? first?.text.slice(0, language) : undefined
  const bytes = sorted.map((segment, index) => {
    const text = index === 0 ? segment.text.slice(prefix) : segment.text
    return segment.encoded ? percentDecode(text) : Buffer.from(text)
  })
  return decodeCharset(Buffer.concat(bytes), charset)
}

function percentDecode(text: string): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 1)) {
    const code = text.slice(at + 1, at + 3)
    if (!/^[0-9a-f]{2}$/i.test(code)) continue
    parts.push(Buffer.from(text.slice(from, at)), Buffer.from(code, 'hex'))
    from = at + 3
  }
  parts.push(Buffer.from(text.slice(from)))
  return Buffer.concat(parts)
}

function splitOutsideQuotes(raw: string): string[] {
  const out: string[] = []
  let quoted = false
  let from = 0
  for (let i = 0; i < raw.length; i++) {
    const char = raw[i]
    if (quoted && char === '\\') i++
    else if (char === '"') quoted = !quoted
    else if (char === ';' && !quoted) {
      out.push(raw.slice(from, i))
      from = i + 1
    }
  }
  out.push(raw.slice(from))
  return out
}

/** The content of a quoted string; other text as it is, without a trailing comment. */
function unquote(text: string): string {
  if (!text.startsWith('"')) return text
  let out = ''
  for (let i = 1; i < text.length && text[i] !== '"'; i++) {
    // Windows clients put unescaped backslashes of a path into file names.
    if (text[i] === '\\' && (text[i + 1] === '"' || text[i + 1] === '\\')) i++
    out += text[i] ?? ''
  }
  return out
}
