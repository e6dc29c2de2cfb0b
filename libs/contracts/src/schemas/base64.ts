const FOREIGN = /[^A-Za-z0-9+/=\r\n]/
const PADDING = /^(?:=[\r\n]*){0,2}$/
const LF = 0x0a
const CR = 0x0d

/**
 * Whether a text is standard base64; line breaks and missing padding are accepted. Passes without a copy, and natively
 * where that is possible: the text of an attachment has megabytes.
 */
export function isBase64(text: string): boolean {
  if (FOREIGN.test(text)) return false
  const padding = text.indexOf('=')
  const end = padding < 0 ? text.length : padding
  return PADDING.test(text.slice(end)) && (end - lineBreaks(text, end)) % 4 !== 1
}

function lineBreaks(text: string, end: number): number {
  if (!text.includes('\n') && !text.includes('\r')) return 0
  let count = 0
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === LF || code === CR) count++
  }
  return count
}
