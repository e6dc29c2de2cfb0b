import { Tokenizer } from 'htmlparser2'

/** An open tag with the attributes that are used here. */
export interface HtmlElement {
  readonly name: string
  /** Offset of `<` in the source. */
  readonly start: number
  /** Cannot have content: its `close` is never called. */
  readonly empty: boolean
  /** Invisible to a reader, by itself or because of an element around it. */
  readonly hidden: boolean
  readonly attributes: ReadonlyMap<string, string>
}

/**
 * Callbacks in document order; every `open` of a non-void element is followed by its `close`, even where the source
 * lacks the closing tag.
 */
export interface HtmlVisitor {
  open?(element: HtmlElement, end: number): void
  /** `end` is the offset after the closing tag, or where the element was closed because it had none. */
  close?(element: HtmlElement, end: number): void
  /** Visible text, with its entities decoded. */
  text?(value: string, end: number): void
}

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
const KEPT = new Set(['id', 'class', 'type', 'style', 'alt', 'hidden', 'name'])
const UNSHOWN = new Set('head script style title template noscript'.split(' '))
const MAX_DEPTH = 500
const MAX_ATTRIBUTE = 2_000

/**
 * Walks html once, in time linear to its length: no tree is built, and a closing tag that closes nothing costs nothing.
 * Elements nested deeper than 500 are treated as void.
 */
export function walkHtml(html: string, visitor: HtmlVisitor): void {
  const elements = new OpenElements(visitor)
  let name = ''
  let tagStart = 0
  let attribute = ''
  let value = ''
  let attributes = new Map<string, string>()

  const openTag = (end: number, selfClosing: boolean): void => {
    if (name === 'body') elements.close('head', tagStart)
    // Only a foreign tag such as `<o:p/>` closes itself; `<div/>` opens a div.
    const empty = VOID.has(name) || (selfClosing && name.includes(':'))
    const hidden = elements.hidden || isHidden(name, attributes)
    elements.open({ name, start: tagStart, empty, hidden, attributes }, end)
  }
  const showText = (text: string, end: number): void => {
    if (!elements.hidden) visitor.text?.(text, end)
  }

  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase()
        tagStart = start - 1
        attributes = new Map()
      },
      onattribname(start, end) {
        attribute = html.slice(start, end).toLowerCase()
        value = ''
      },
      onattribdata(start, end) {
        if (KEPT.has(attribute) && value.length < MAX_ATTRIBUTE) value += html.slice(start, end)
      },
      onattribentity(codepoint) {
        if (KEPT.has(attribute) && value.length < MAX_ATTRIBUTE) value += String.fromCodePoint(codepoint)
      },
      onattribend() {
        if (KEPT.has(attribute) && !attributes.has(attribute)) attributes.set(attribute, value)
      },
      onopentagend: (end) => openTag(end + 1, false),
      onselfclosingtag: (end) => openTag(end + 1, true),
      onclosetag: (start, end) =>
        elements.close(html.slice(start, end).toLowerCase(), html.indexOf('>', end) + 1 || end),
      ontext: (start, end) => showText(html.slice(start, end), end),
      ontextentity: (codepoint, end) => showText(String.fromCodePoint(codepoint), end),
      oncdata: (start, end) => showText(html.slice(start, end), end),
      oncomment() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  elements.closeAll(html.length)
}

/** The elements that are open at one place of the source, each with its callbacks. */
class OpenElements {
  readonly #visitor: HtmlVisitor
  readonly #stack: HtmlElement[] = []
  /** How many are open of each name: a closing tag that closes nothing is recognized without a search. */
  readonly #counts = new Map<string, number>()

  constructor(visitor: HtmlVisitor) {
    this.#visitor = visitor
  }

  /** Whether text at this place is invisible. */
  get hidden(): boolean {
    return this.#stack.at(-1)?.hidden === true
  }

  /** @param end the offset after the opening tag. */
  open(element: HtmlElement, end: number): void {
    this.#visitor.open?.(element, end)
    if (element.empty) return
    if (this.#stack.length >= MAX_DEPTH) {
      this.#visitor.close?.(element, end)
      return
    }
    this.#stack.push(element)
    this.#counts.set(element.name, (this.#counts.get(element.name) ?? 0) + 1)
  }

  /** Closes the innermost element of this name and everything inside it, if one is open. */
  close(name: string, end: number): void {
    if ((this.#counts.get(name) ?? 0) === 0) return
    while (this.#pop(end) !== name);
  }

  closeAll(end: number): void {
    while (this.#stack.length > 0) this.#pop(end)
  }

  #pop(end: number): string {
    const element = this.#stack.pop()
    if (element === undefined) return ''
    this.#counts.set(element.name, (this.#counts.get(element.name) ?? 1) - 1)
    this.#visitor.close?.(element, end)
    return element.name
  }
}

function isHidden(name: string, attributes: ReadonlyMap<string, string>): boolean {
  return UNSHOWN.has(name) || attributes.has('hidden') || /display\s*:\s*none/i.test(attributes.get('style') ?? '')
}
