import { type Declaration, readDeclarations } from './css/declarations.ts'
import { attributeOf, type Element, type Matching } from './css/selector.ts'
import { StyleSheet } from './css/sheet.ts'
import { isSeen, PAGE, type Style, styleOf } from './css/style.ts'
import { type Link, linkOf, targetToShow } from './links.ts'
import { textOfPage } from './render.ts'
import { Page } from './simplify.ts'
import { type HtmlNode, parseTree } from './tree.ts'

/** What a person sees of a page. */
export interface VisibleText {
  readonly text: string
  /** How many characters of text the page holds that a person does not see; they are left out of `text`. */
  readonly hiddenChars: number
  /** How many characters of the source were not read, because it is too long or its elements are nested too deep. */
  readonly unreadChars: number
}

/** A longer page is read up to here. */
export const MAX_HTML_CHARS = 1_000_000
/** Comparisons of selectors with elements, of which newsletters need less than a tenth. */
const MAX_STEPS = 1_000_000
/** An alternative text is seen only where a picture is not: there is no reason for a long one. */
const MAX_ALT_CHARS = 200

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
/** Their content is no text of the page, so it does not count as hidden text. */
const NO_TEXT = new Set(['title', 'style', 'script'])

/**
 * Reads html as a person with a usual mail program sees it: hidden text is left out and counted. Links are followed by
 * their target where it differs from their text, pictures by their alternative text as `[image: ...]`. Never throws; its
 * time is bounded.
 *
 * Text counts as hidden by what its element, the elements around it and the style sheets of the page declare: not shown,
 * transparent, as small as a dot, in (nearly) the colour of its background, in a box without size, cut away or outside of
 * the page. Text for screen readers is hidden; `aria-hidden` text is seen. Where the page cannot be judged, because its
 * style sheets are too much work, text is left out.
 *
 * NOT detected is what no look at the source alone shows: text in the colour of a background picture or gradient, text
 * that other elements cover, style sheets and pictures from elsewhere, CSS variables and `calc()`, animations, pseudo-classes that
 * depend on counting, texts of `::before` and `::after`, and colours that a mail program changes for its dark mode.
 * `mso-hide` does not count: only Outlook hides such text, and buttons with it are what all others see.
 */
export function visibleText(html: string): VisibleText {
  const read = html.slice(0, MAX_HTML_CHARS)
  const { nodes, cutAt = read.length } = parseTree(read)
  const reader = new Reader(nodes)
  return { text: reader.text, hiddenChars: reader.hiddenChars, unreadChars: html.length - cutAt }
}

/** Nodes that are left to read, with what holds for all of them. */
interface Level {
  readonly nodes: readonly HtmlNode[]
  readonly style: Style
  readonly link: Link | undefined
  readonly counted: boolean
  /** Done when the last node is read. */
  readonly close?: () => void
  next: number
  previous?: Element | undefined
}

class Reader {
  hiddenChars = 0
  readonly #page = new Page()
  readonly #sheet = new StyleSheet()
  readonly #matching: Matching = { steps: MAX_STEPS, previous: new Map() }
  readonly #inline = new Map<string, Declaration[]>()
  #base: string | undefined

  constructor(nodes: readonly HtmlNode[]) {
    walk({ nodes, style: PAGE, link: undefined, counted: true, next: 0 }, (node, level) => this.#prepare(node, level))
    walk({ nodes, style: PAGE, link: undefined, counted: true, next: 0 }, (node, level) => this.#read(node, level))
  }

  get text(): string {
    return textOfPage(this.#page.end()).replace(/\n{3,}/g, '\n\n')
  }

  /** Style sheets apply to text above them, too. */
  #prepare(node: HtmlNode, level: Level): Level | undefined {
    if (!('tagName' in node)) return undefined
    if (level.previous !== undefined) this.#matching.previous.set(node, level.previous)
    level.previous = node
    if (node.tagName === 'base') this.#base ??= attributeOf(node, 'href')
    if (node.tagName === 'style')
      this.#sheet.add(node.childNodes.map((child) => ('value' in child ? child.value : '')).join(''))
    return { ...level, nodes: node.childNodes, next: 0, previous: undefined }
  }

  #read(node: HtmlNode, level: Level): Level | undefined {
    if ('value' in node) this.#text(node.value, level)
    if (!('tagName' in node)) return undefined
    const style = this.#styleOf(node, level.style)
    const link = linkOf(node, this.#base) ?? level.link
    const counted = level.counted && !NO_TEXT.has(node.tagName)
    if (node.tagName === 'img') this.#image(node, { ...level, style, link })
    const empty = VOID.has(node.tagName)
    if (!style.gone) this.#page.open({ name: node.tagName, empty })
    const close = (): void => {
      if (link !== level.link) this.#page.text(targetToShow(link), 0)
      if (!style.gone && !empty) this.#page.close()
    }
    const nodes = 'content' in node ? node.content.childNodes : node.childNodes
    return { nodes, style, link, counted, close, next: 0 }
  }

  #styleOf(element: Element, around: Style): Style {
    if (around.gone) return around
    const declarations = [
      ...this.#sheet.declarationsFor(element, this.#matching),
      ...this.#inlineOf(attributeOf(element, 'style')),
    ]
    if (this.#matching.steps < 0) return { ...around, gone: true }
    return styleOf(element, declarations, around)
  }

  #inlineOf(style = ''): Declaration[] {
    if (style === '') return []
    const known = this.#inline.get(style)
    if (known !== undefined) return known
    const declarations = readDeclarations(style)
    this.#inline.set(style, declarations)
    return declarations
  }

  #text(value: string, { style, link, counted }: Level): void {
    if (isSeen(style)) {
      // The renderer would make a space of U+200B; a word joiner is as invisible, and stays for callers to find.
      this.#page.text(value.replaceAll('\u200b', '\u2060'), 0)
      if (link !== undefined) link.text += value
    } else if (counted) this.hiddenChars += lengthOf(value)
  }

  #image(image: Element, { style, link }: Level): void {
    const alt = (attributeOf(image, 'alt') ?? '').replace(/\s+/g, ' ').trim()
    if (!isSeen(style) || isDot(image)) this.hiddenChars += alt.length
    else {
      const shown = alt.length > MAX_ALT_CHARS ? `${alt.slice(0, MAX_ALT_CHARS)}…` : alt
      this.hiddenChars += Math.max(0, alt.length - MAX_ALT_CHARS)
      if (alt !== '') this.#page.text(` [image: ${shown}] `, 0)
      else if (link !== undefined) this.#page.text(' [image] ', 0)
      if (link !== undefined) link.text += '[image]'
    }
  }
}

/** Reads nodes in document order, without recursion: `read` answers with what is inside a node. */
function walk(root: Level, read: (node: HtmlNode, level: Level) => Level | undefined): void {
  const open = [root]
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (node === undefined) {
      open.pop()
      level.close?.()
      continue
    }
    const inside = read(node, level)
    if (inside !== undefined) open.push(inside)
  }
}

/** A picture of at most one pixel, which counts opened mails or fills a gap. */
function isDot(image: Element): boolean {
  return ['width', 'height'].some((side) => {
    const size = Number.parseFloat(attributeOf(image, side) ?? '')
    return size <= 1
  })
}

function lengthOf(text: string): number {
  return text.replace(/\s+/g, ' ').trim().length
}
