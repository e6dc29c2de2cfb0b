import type { ParseLimits } from './limits.ts'

/**
 * How many characters of html, from its beginning, can be laid out within the time and memory that a mail may cost. A
 * megabyte of `x<br>` took 1.4 s and 200 MB: the number of tags decides, not their length.
 */
export function affordableLength(
  html: string,
  { extractedHtml, htmlTags }: Pick<ParseLimits, 'extractedHtml' | 'htmlTags'>,
): number {
  let at = html.indexOf('<')
  for (let tags = 0; at >= 0 && at < extractedHtml; tags++) {
    if (tags >= htmlTags) return at
    at = html.indexOf('<', at + 1)
  }
  return Math.min(html.length, extractedHtml)
}

/** Whether the reply of a text can be extracted within the time and memory that a mail may cost: 1 us and 110 bytes a line. */
export function isAffordable(
  text: string,
  { extractedText, textLines }: Pick<ParseLimits, 'extractedText' | 'textLines'>,
): boolean {
  if (text.length > extractedText) return false
  let lines = 1
  for (const _ of text.matchAll(/\r\n?|\n/g)) if (++lines > textLines) return false
  return true
}
