import { isAscii, isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import iconv from 'iconv-lite'

/** Encodings in which plain ASCII bytes do not mean ASCII characters. */
const SHIFTING = /^(?:utf-?(?:7|16|32)|iso-2022|hz-|ucs|unicode|csutf)/

const decoders = new Map<string, TextDecoder>()

/**
 * Text of `bytes` in the named charset. An absent, unknown or evidently wrong charset is guessed: UTF-8 where the
 * bytes are valid UTF-8, else Windows-1252, which never fails. The result has no NUL and no lone surrogate, because
 * PostgreSQL stores neither.
 */
export function decodeCharset(bytes: Uint8Array, charset?: string): string {
  return cleanText(decode(bytes, charset?.trim().toLowerCase()))
}

/** Without the characters that no database column and no JSON parser downstream has to take. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '') : wellFormed
}

function decode(bytes: Uint8Array, charset = ''): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isAscii(buffer) && !SHIFTING.test(charset)) return buffer.toString('latin1')
  if (charset === '' || charset === 'us-ascii' || charset === 'ascii') return guess(buffer)
  const decoder = decoderOf(charset)
  if (decoder !== undefined) return decoder.decode(buffer)
  // A charset such as UTF-7 or cp850, which the platform does not have.
  return iconv.encodingExists(charset) ? iconv.decode(buffer, charset) : guess(buffer)
}

function guess(bytes: Buffer): string {
  const decoder = decoderOf(isUtf8(bytes) ? 'utf-8' : 'windows-1252')
  return decoder === undefined ? bytes.toString('latin1') : decoder.decode(bytes)
}

function decoderOf(charset: string): TextDecoder | undefined {
  const known = decoders.get(charset)
  if (known !== undefined) return known
  try {
    const decoder = new TextDecoder(charset)
    decoders.set(charset, decoder)
    return decoder
  } catch {
    return undefined
  }
}
