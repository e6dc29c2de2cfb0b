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
const KEPT = new Set(['id', 'class', 'type', 'style', 'alt', 'hidden'])
const UNSHOWN = new Set('head script style title template noscript'.split(' '))
const MAX_DEPTH = 500
const MAX_ATTRIBUTE = 2_000

/**
 * Walks html once, in time linear to its length: no tree is built, and a closing tag that closes nothing costs nothing.
 * Elements nested deeper than 500 are treated as void.
 */
export function walkHtml(html: string, visitor: HtmlVisitor): void {
  const stack: HtmlElement[] = []
  const openCount = new Map<string, number>()
  let name = ''
  let tagStart = 0
  let attribute = ''
  let value = ''
  let attributes = new Map<string, string>()

  const pop = (end: number): string => {
    const element = stack.pop()
    if (element === undefined) return ''
    openCount.set(element.name, (openCount.get(element.name) ?? 1) - 1)
    visitor.close?.(element, end)
    return element.name
  }
  const closeTag = (closing: string, end: number): void => {
    if ((openCount.get(closing) ?? 0) === 0) return
    while (pop(end) !== closing);
  }
  const openTag = (end: number, selfClosing: boolean): void => {
    if (name === 'body') closeTag('head', tagStart)
    // Only a foreign tag such as `<o:p/>` closes itself; `<div/>` opens a div.
    const empty = VOID.has(name) || (selfClosing && name.includes(':'))
    const hidden = stack.at(-1)?.hidden === true || isHidden(name, attributes)
    const element = { name, start: tagStart, empty, hidden, attributes }
    visitor.open?.(element, end)
    if (empty) return
    if (stack.length >= MAX_DEPTH) {
      visitor.close?.(element, end)
      return
    }
    stack.push(element)
    openCount.set(name, (openCount.get(name) ?? 0) + 1)
  }

  const showText = (text: string, end: number): void => {
    if (stack.at(-1)?.hidden !== true) visitor.text?.(text, end)
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
      onclosetag: (start, end) => closeTag(html.slice(start, end).toLowerCase(), html.indexOf('>', end) + 1 || end),
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
  while (stack.length > 0) pop(html.length)
}

function isHidden(name: string, attributes: ReadonlyMap<string, string>): boolean {
  return UNSHOWN.has(name) || attributes.has('hidden') || /display\s*:\s*none/i.test(attributes.get('style') ?? '')
}
