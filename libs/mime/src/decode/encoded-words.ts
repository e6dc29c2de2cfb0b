import libmime from 'libmime'
import { cleanText, isKnownCharset } from './charset.ts'

/** Decodes the encoded words of a header value (RFC 2047), including those that a sender split inside a character. */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value
  return cleanText(libmime.decodeWords(withKnownCharsets(value)))
}

/**
 * libmime reads words of an unknown charset as UTF-8 and loses invalid bytes; Windows-1252 loses nothing. Each name is
 * looked up once, because looking up an unknown one takes 8 µs and a field has room for hundreds of words.
 */
function withKnownCharsets(value: string): string {
  const known = new Map<string, boolean>()
  return value.replace(/=\?([\w-]{1,80})(?=(?:\*[\w-]{0,80})?\?[qb]\?)/gi, (start, charset: string) => {
    const isKnown = known.get(charset) ?? isKnownCharset(charset)
    known.set(charset, isKnown)
    return isKnown ? start : '=?windows-1252'
  })
}
