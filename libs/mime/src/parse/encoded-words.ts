import libmime from 'libmime'
import { cleanText, isKnownCharset } from './charset.ts'

/** Decodes the encoded words of a header value (RFC 2047), those that a sender split inside a character included. */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value
  return cleanText(libmime.decodeWords(withKnownCharsets(value)))
}

/** libmime reads words of an unknown charset as UTF-8 and loses what is none; nothing is lost in Windows-1252. */
function withKnownCharsets(value: string): string {
  return value.replace(/=\?([\w-]{1,80})(?=(?:\*[\w-]{0,80})?\?[qb]\?)/gi, (start, charset: string) =>
    isKnownCharset(charset) ? start : '=?windows-1252',
  )
}
