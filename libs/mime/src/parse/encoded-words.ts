import { decodeCharset } from './charset.ts'
import { decodeQuotedPrintable } from './transfer.ts'

const MAX_CHARSET = 80

interface Word {
  readonly charset: string
  readonly bytes: Buffer
  readonly end: number
}

/**
 * Decodes the encoded words of a header value (RFC 2047). White space between neighbouring words goes, and neighbours
 * of one charset are decoded together, because senders split characters across words. Linear in the input.
 */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value
  let out = ''
  let pending: Word[] = []
  let from = 0
  let search = 0
  for (;;) {
    const start = value.indexOf('=?', search)
    if (start < 0) break
    const word = wordAt(value, start)
    if (word === undefined) {
      search = start + 2
      continue
    }
    const between = value.slice(from, start)
    if (pending.length === 0 || between.trim() !== '') {
      out += decodeRun(pending) + between
      pending = []
    }
    pending.push(word)
    from = word.end
    search = word.end
  }
  return out + decodeRun(pending) + value.slice(from)
}

function wordAt(value: string, start: number): Word | undefined {
  const charsetEnd = value.indexOf('?', start + 2)
  if (charsetEnd < 0 || charsetEnd - start > MAX_CHARSET) return undefined
  const encoding = value[charsetEnd + 1]?.toLowerCase()
  if ((encoding !== 'q' && encoding !== 'b') || value[charsetEnd + 2] !== '?') return undefined
  const textStart = charsetEnd + 3
  const end = value.indexOf('?=', textStart)
  if (end < 0) return undefined
  const text = value.slice(textStart, end)
  const [charset = ''] = value.slice(start + 2, charsetEnd).split('*')
  const bytes = encoding === 'b' ? Buffer.from(text, 'base64') : decodeQuotedPrintable(Buffer.from(text), true)
  return { charset: charset.toLowerCase(), bytes, end: end + 2 }
}

function decodeRun(words: readonly Word[]): string {
  let out = ''
  for (let i = 0; i < words.length; ) {
    const charset = words[i]?.charset
    const same: Buffer[] = []
    for (; i < words.length && words[i]?.charset === charset; i++) same.push(words[i]?.bytes ?? Buffer.alloc(0))
    out += decodeCharset(Buffer.concat(same), charset)
  }
  return out
}
