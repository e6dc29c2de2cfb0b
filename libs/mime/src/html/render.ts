import { compile } from 'html-to-text'
import { affordableLength } from '../limits/affordable.ts'
import type { ParseLimits } from '../limits/limits.ts'
import { MARK, MARK_START, OBJECT, type SkippedRange, simplifyHtml } from './simplify.ts'

/** One line of rendered html. */
export interface RenderedLine {
  readonly text: string
  /** Source offset after the last visible content of this line. */
  readonly end: number
}

const render = compile({ wordwrap: false, limits: { maxInputLength: Number.POSITIVE_INFINITY } })

/**
 * Renders html as a reader would see it without styles: one entry per line, quotations marked with `> `, a blank line
 * around paragraphs.
 * @param skipped ranges to leave out, ascending and disjoint
 */
export function renderLines(html: string, skipped: readonly SkippedRange[] = []): RenderedLine[] {
  const lines: RenderedLine[] = []
  let end = html.length
  // From the end: a line without a mark belongs to the text whose mark comes next.
  for (const marked of render(simplifyHtml(html, skipped)).split('\n').toReversed()) {
    const mark = Number.parseInt(marked.slice(marked.lastIndexOf(MARK_START) + 1), 10)
    if (marked.includes(MARK_START) && mark <= html.length) end = mark
    lines.push({ text: withoutMarks(marked), end })
  }
  return lines.reverse()
}

/** The words of html as plain text, for search and for previews of mail without a text part. */
export function htmlToText(html: string): string {
  return textOfPage(simplifyHtml(html))
}

/** The same of the beginning of html that is as long as a mail may cost. */
export function affordableText(html: string, limits: Pick<ParseLimits, 'extractedHtml' | 'htmlTags'>): string {
  return htmlToText(html.slice(0, affordableLength(html, limits)))
}

/** The words of a page that `simplifyHtml` or a `Page` has written. */
export function textOfPage(page: string): string {
  return withoutMarks(render(page).replaceAll(OBJECT, ''))
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
}

function withoutMarks(text: string): string {
  return text.replace(MARK, '').trimEnd()
}
