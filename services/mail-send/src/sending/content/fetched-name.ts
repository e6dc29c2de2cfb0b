import { LIMITS } from '@restante/contracts/vocabulary'
import { parse } from 'content-disposition'

/**
 * Control characters and line separators, which no header may contain, and those that change the direction of text: a
 * name must not look like another.
 */
const UNSEEN = /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/**
 * The file name of fetched content: from `Content-Disposition` (RFC 6266), otherwise the last segment of the URL's
 * path. It is a bare name: without directories, control characters and direction characters.
 * @returns undefined when neither gives one.
 */
export function fetchedName(url: string, disposition: string | string[] | undefined): string | undefined {
  const header = typeof disposition === 'string' ? bareName(filenameIn(disposition)) : undefined
  return header ?? bareName(lastSegment(url))
}

function filenameIn(disposition: string): string {
  try {
    return parse(disposition).parameters['filename'] ?? ''
  } catch {
    return ''
  }
}

function lastSegment(url: string): string {
  const segment = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function bareName(text: string): string | undefined {
  const name = text.replace(UNSEEN, '').split(/[/\\]/).at(-1)?.trim().toWellFormed() ?? ''
  const short = name.slice(-LIMITS.send.attachmentName).toWellFormed()
  return /^\.*$/.test(short) ? undefined : short
}
