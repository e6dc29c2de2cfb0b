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
