import { walkHtml } from './walk.ts'

/** One line of rendered html. */
export interface RenderedLine {
  readonly text: string
  /** Source offset after the last thing of this line that a reader sees. */
  readonly end: number
}

/** Stands for an image without alternative text, so that a line of nothing else is not empty. */
const OBJECT = '\ufffc'

/** Deeper quotations look like this one: a line must not grow with the depth of hostile nesting. */
const MAX_QUOTES = 10

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))
const BLOCK = words(
  'address article aside blockquote body center dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section table tbody tfoot thead tr ul',
)
const SPACED = words('p h1 h2 h3 h4 h5 h6 blockquote pre table ul ol dl')

/**
 * Renders html as a reader would see it without styles: one entry per line, quotations marked with `> `, a blank line
 * around paragraphs. `[start, end)` ranges of the source listed in `skipped` (ascending) leave one quoted line behind.
 */
export function renderLines(html: string, skipped: readonly (readonly [number, number])[] = []): RenderedLine[] {
  const lines: RenderedLine[] = []
  let text = ''
  let end = 0
  let space = false
  let blank = false
  let preformatted = 0
  let quotes = 0
  let bullet = false
  let range = 0

  const push = (line: string): void => {
    const mark = '> '.repeat(Math.min(quotes, MAX_QUOTES))
    if (blank && lines.length > 0) lines.push({ text: mark.trimEnd(), end: lines.at(-1)?.end ?? 0 })
    blank = false
    lines.push({ text: mark + line.replaceAll('\u00a0', ' '), end })
  }
  const flush = (): void => {
    space = false
    if (text.trim() === '') {
      text = ''
      return
    }
    push(text)
    text = ''
  }
  const write = (value: string, at: number): void => {
    text += bullet && text === '' ? `- ${value}` : value
    bullet = false
    end = at
  }
  const isSkipped = (at: number): boolean => {
    let current = skipped[range]
    while (current !== undefined && at > current[1]) {
      range++
      current = skipped[range]
    }
    if (current === undefined || at <= current[0]) return false
    flush()
    if (lines.at(-1)?.text !== '>') lines.push({ text: '>', end })
    return true
  }
  const collapse = (value: string, at: number): void => {
    const trimmed = value.replace(/[\t\n\f\r ]+/g, ' ')
    if (trimmed === ' ' || trimmed === '') {
      space ||= trimmed !== ''
      return
    }
    const lead = (space || trimmed.startsWith(' ')) && text !== '' ? ' ' : ''
    space = trimmed.endsWith(' ')
    write(lead + trimmed.trim(), at)
  }

  walkHtml(html, {
    open(element, at) {
      if (element.hidden) return
      if (BLOCK.has(element.name)) flush()
      if (SPACED.has(element.name)) blank = true
      if (element.name === 'blockquote') quotes++
      if (element.name === 'pre') preformatted++
      if (element.name === 'li') bullet = true
      if (element.name === 'td' || element.name === 'th') space = true
      if (element.name === 'br') {
        if (text.trim() === '') blank = true
        else flush()
      }
      if (element.name === 'img' && !isSkipped(at)) write(element.attributes.get('alt') || OBJECT, at)
    },
    close(element) {
      if (element.hidden) return
      if (BLOCK.has(element.name)) flush()
      if (SPACED.has(element.name)) blank = true
      if (element.name === 'blockquote') quotes = Math.max(0, quotes - 1)
      if (element.name === 'pre') preformatted = Math.max(0, preformatted - 1)
    },
    text(value, at) {
      if (isSkipped(at)) return
      if (preformatted === 0) {
        collapse(value, at)
        return
      }
      const [first = '', ...rest] = value.split('\n')
      if (first !== '') write(first, at)
      for (const line of rest) {
        if (text.trim() === '') blank = true
        flush()
        if (line !== '') write(line, at)
      }
    },
  })
  flush()
  return lines
}

/** The words of html as plain text, for search and for previews of mail without a text part. */
export function htmlToText(html: string): string {
  return renderLines(html)
    .map((line) => line.text.replaceAll(OBJECT, '').trimEnd())
    .join('\n')
    .trim()
}
