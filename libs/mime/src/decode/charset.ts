import { isAscii, isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import iconv from 'iconv-lite'
import { withLineFeeds } from './line-feeds.ts'

/** Encodings in which plain ASCII bytes do not mean ASCII characters. */
const SHIFTING = /^(?:utf-?(?:16|32)|iso-2022|hz-|ucs|unicode|csutf)/

/** Encodings in which the bytes of CR and LF mean something else. */
const WIDE = /utf-?(?:16|32)|ucs|unicode/i

/**
 * Decodes `bytes` in the named charset. An absent, unknown or evidently wrong charset is guessed: UTF-8 where the bytes
 * are valid UTF-8, otherwise Windows-1252, which never fails. The result has no NUL and no lone surrogate, because
 * PostgreSQL stores neither.
 */
export function decodeCharset(bytes: Uint8Array, charset?: string): string {
  return cleanText(decode(bytes, charset?.trim().toLowerCase()))
}

/** `decodeCharset` of a text of many lines, each of which ends with a line feed. */
export function decodeLines(bytes: Buffer, charset?: string): string {
  if (!WIDE.test(charset ?? '')) return decodeCharset(withLineFeeds(bytes), charset)
  return decodeCharset(bytes, charset).replace(/\r\n?/g, '\n')
}

/** Without the characters that a database column or a JSON parser downstream may refuse. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '') : wellFormed
}

/** Whether text in a charset of that name can be decoded. */
export function isKnownCharset(charset: string): boolean {
  return !isRefused(charset) && (iconv.encodingExists(charset) || platformDecoder(charset) !== undefined)
}

/**
 * iconv-lite would decode these, but UTF-7 takes it seconds for a few megabytes, and hides content that every other
 * program sees as plain text (browsers dropped it for that reason); the others are not charsets.
 */
function isRefused(charset: string): boolean {
  return /^(?:unicode11)?utf7(?:imap)?$|^base64$|^hex$/.test(charset.toLowerCase().replace(/:\d{4}$|[^0-9a-z]/g, ''))
}

function decode(bytes: Uint8Array, charset = ''): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isAscii(buffer) && !SHIFTING.test(charset)) return buffer.toString('latin1')
  if (charset === '' || charset === 'us-ascii' || charset === 'ascii' || isRefused(charset)) return guess(buffer)
  if (iconv.encodingExists(charset)) return iconv.decode(buffer, charset)
  // The platform supports the shifting Japanese encodings, which iconv-lite lacks.
  return platformDecoder(charset)?.decode(buffer) ?? guess(buffer)
}

function guess(bytes: Buffer): string {
  return iconv.decode(bytes, isUtf8(bytes) ? 'utf-8' : 'windows-1252')
}

function platformDecoder(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset)
  } catch {
    return undefined
  }
}
