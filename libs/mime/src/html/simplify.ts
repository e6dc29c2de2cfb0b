import { escapeHtml } from './escape.ts'
import { type HtmlElement, walkHtml } from './walk.ts'

/** A range of the source that is not rendered. */
export interface SkippedRange {
  readonly start: number
  readonly end: number
  /** Lines that replace it, so that rules for text still see that something was there. */
  readonly standIn: readonly string[]
}

/** Placeholder for an image without alternative text, so that a line with only the image is not empty. */
export const OBJECT = '\ufffc'

/** Noncharacters (Unicode 23.7), which no text may contain, around the source offset of the content before them. */
export const MARK_START = '\ufdd0'
export const MARK = /\ufdd0(\d{1,9})\ufdd1/g

/**
 * Deeper blocks and quotations look like those around them: neither time nor line length may grow with hostile nesting.
 */
const MAX_BLOCKS = 50
const MAX_QUOTES = 10

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))
const BLOCK = words(
  'address article aside body center dd div dt fieldset figure footer form header hr html li main nav section tbody tfoot thead tr',
)
const SPACED = words('p h1 h2 h3 h4 h5 h6 table ul ol dl')

/**
 * The same page in five kinds of element (div, p, blockquote, pre, br), without attributes, all of them closed, nested
 * no deeper than 50, without invisible content. A renderer takes time quadratic to the depth of its input.
 * @param skipped ranges to leave out, ascending and disjoint
 */
export function simplifyHtml(html: string, skipped: readonly SkippedRange[] = []): string {
  const page = new Page()
  let range = 0
  const skips = (at: number): boolean => {
    for (let current = skipped[range]; current !== undefined; current = skipped[++range]) {
      if (at <= current.start) return false
      page.standIn(current)
      if (at <= current.end) return true
    }
    return false
  }
  walkHtml(html, {
    open(element, at) {
      if (element.hidden) return
      page.open(element)
      if (element.name === 'img' && !skips(at)) page.text(element.attributes.get('alt') || OBJECT, at)
    },
    close(element) {
      if (!element.hidden) page.close()
    },
    text(value, at) {
      if (!skips(at)) page.text(value, at)
    },
  })
  for (const rest of skipped.slice(range)) page.standIn(rest)
  return page.end()
}

/** Writes a simple page from what is met in document order. */
export class Page {
  #out = ''
  /** The tag that was written for each open element; empty when none was. */
  readonly #tags: string[] = []
  #blocks = 0
  #quotes = 0
  #preformatted = 0
  #bullet = false
  /** Text that is not written yet, and the source offset after its last words. */
  #text = ''
  #textEnd: number | undefined
  #standsFor: SkippedRange | undefined

  open({ name, empty }: Pick<HtmlElement, 'name' | 'empty'>): void {
    if (name === 'br') this.#write('<br>')
    if (name === 'td' || name === 'th') this.#write(' ')
    const tag = this.#tagFor(name)
    if (tag !== '') this.#write(empty ? `<${tag}></${tag}>` : `<${tag}>`)
    if (name === 'li') this.#bullet = true
    if (!empty) this.#enter(tag)
  }

  close(): void {
    const tag = this.#tags.pop() ?? ''
    if (tag === '') return
    this.#write(`</${tag}>`)
    this.#count(tag, -1)
  }

  text(value: string, at: number): void {
    this.#text += value
    if (/\S/.test(value)) this.#textEnd = at
  }

  /** Writes the replacement lines of a range once, however often it is met. */
  standIn(range: SkippedRange): void {
    if (this.#standsFor === range) return
    this.#standsFor = range
    for (const line of range.standIn) this.#write(`<div>${escapeHtml(line)}</div>`)
  }

  end(): string {
    this.#write('')
    return this.#out
  }

  #tagFor(name: string): string {
    if (this.#blocks >= MAX_BLOCKS) return ''
    if (name === 'pre') return name
    if (name === 'blockquote') return this.#quotes < MAX_QUOTES ? name : 'p'
    if (SPACED.has(name)) return 'p'
    return BLOCK.has(name) ? 'div' : ''
  }

  #enter(tag: string): void {
    this.#tags.push(tag)
    if (tag !== '') this.#count(tag, 1)
  }

  #count(tag: string, by: 1 | -1): void {
    this.#blocks += by
    if (tag === 'blockquote') this.#quotes += by
    if (tag === 'pre') this.#preformatted += by
  }

  /** Writes markup, after the pending text and its mark. */
  #write(markup: string): void {
    // A no-break space alone would make a line of an empty paragraph.
    const text = this.#preformatted > 0 ? this.#text : this.#text.replaceAll('\u00a0', ' ')
    if (this.#textEnd === undefined) this.#out += text
    else {
      this.#out += `${escapeHtml(this.#bullet ? `- ${text.trimStart()}` : text)}${MARK_START}${this.#textEnd}\ufdd1`
      this.#bullet = false
    }
    this.#out += markup
    this.#text = ''
    this.#textEnd = undefined
  }
}
