import { type HtmlElement, walkHtml } from './walk.ts'

/** One line of rendered html. */
export interface RenderedLine {
  readonly text: string
  /** Source offset after the last thing of this line that a reader sees. */
  readonly end: number
}

/** A range of the source that is not rendered. */
export interface SkippedRange {
  readonly start: number
  readonly end: number
  /** Lines that stand in its place, so that rules for text still see that something was there. */
  readonly standIn: readonly string[]
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
 * around paragraphs.
 * @param skipped ranges to leave out, ascending and apart
 */
export function renderLines(html: string, skipped: readonly SkippedRange[] = []): RenderedLine[] {
  const page = new Page()
  let range = 0
  const skips = (at: number): boolean => {
    for (let current = skipped[range]; current !== undefined; current = skipped[++range]) {
      if (at <= current.start) return false
      page.standIn(current.standIn, current)
      if (at <= current.end) return true
    }
    return false
  }
  walkHtml(html, {
    open(element, at) {
      if (element.hidden) return
      page.open(element)
      if (element.name === 'img' && !skips(at)) page.write(element.attributes.get('alt') || OBJECT, at)
    },
    close(element) {
      if (!element.hidden) page.close(element)
    },
    text(value, at) {
      if (!skips(at)) page.text(value, at)
    },
  })
  page.breakLine()
  for (const rest of skipped.slice(range)) page.standIn(rest.standIn, rest)
  return page.lines
}

/** The words of html as plain text, for search and for previews of mail without a text part. */
export function htmlToText(html: string): string {
  return renderLines(html)
    .map((line) => line.text.replaceAll(OBJECT, '').trimEnd())
    .join('\n')
    .trim()
}

/** Lines being written, and what decides about the next one. */
class Page {
  readonly lines: RenderedLine[] = []
  #line = ''
  #end = 0
  #space = false
  /** Depth of quotation of the blank line that is due ahead of the next line. */
  #blank: number | undefined
  #bullet = false
  #preformatted = 0
  #quotes = 0
  #standsFor: SkippedRange | undefined

  open({ name }: HtmlElement): void {
    this.#breakAround(name)
    if (name === 'blockquote') this.#quotes++
    if (name === 'pre') this.#preformatted++
    if (name === 'li') this.#bullet = true
    if (name === 'td' || name === 'th') this.#space = true
    if (name === 'br') this.#newLine()
  }

  close({ name }: HtmlElement): void {
    if (BLOCK.has(name)) this.breakLine()
    if (name === 'blockquote') this.#quotes = Math.max(0, this.#quotes - 1)
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted - 1)
    this.#breakAround(name)
  }

  text(value: string, at: number): void {
    if (this.#preformatted === 0) {
      this.#collapse(value, at)
      return
    }
    const [first = '', ...rest] = value.split('\n')
    if (first !== '') this.write(first, at)
    for (const line of rest) {
      this.#newLine()
      if (line !== '') this.write(line, at)
    }
  }

  write(value: string, at: number): void {
    this.#line += this.#bullet && this.#line === '' ? `- ${value}` : value
    this.#bullet = false
    this.#end = at
  }

  /** Puts the lines of a range down once, however often it is met. */
  standIn(lines: readonly string[], range: SkippedRange): void {
    if (this.#standsFor === range) return
    this.#standsFor = range
    this.breakLine()
    for (const text of lines) this.lines.push({ text, end: this.#end })
  }

  breakLine(): void {
    const line = this.#line.replaceAll('\u00a0', ' ')
    this.#line = ''
    this.#space = false
    if (line.trim() === '') return
    const end = this.lines.at(-1)?.end
    if (this.#blank !== undefined && end !== undefined) this.lines.push({ text: quoteMark(this.#blank).trimEnd(), end })
    this.#blank = undefined
    this.lines.push({ text: quoteMark(this.#quotes) + line, end: this.#end })
  }

  #breakAround(name: string): void {
    if (BLOCK.has(name)) this.breakLine()
    if (SPACED.has(name)) this.#leaveBlank()
  }

  #newLine(): void {
    if (this.#line.trim() === '') this.#leaveBlank()
    this.breakLine()
  }

  #leaveBlank(): void {
    this.#blank = Math.min(this.#blank ?? this.#quotes, this.#quotes)
  }

  /** White space of html is one space, and none at the edges of a line (the no-break space is a character). */
  #collapse(value: string, at: number): void {
    const text = value.replace(/[\t\n\f\r ]+/g, ' ')
    const start = text.startsWith(' ') ? 1 : 0
    const end = text.length > 1 && text.endsWith(' ') ? text.length - 1 : text.length
    if (start === 1) this.#space = true
    if (start >= end) return
    this.write((this.#space && this.#line !== '' ? ' ' : '') + text.slice(start, end), at)
    this.#space = end < text.length
  }
}

function quoteMark(depth: number): string {
  return '> '.repeat(Math.min(depth, MAX_QUOTES))
}
