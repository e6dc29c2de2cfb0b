import { type Block, type CssNode, parse } from 'css-tree'
import { AS_TEXT, type Declaration, declarationsIn } from './declarations.ts'
import { WINDOW } from './length.ts'
import {
  attributeOf,
  type CompiledSelector,
  compileSelectors,
  type Element,
  MAX_SELECTOR_CHARS,
  type Matching,
  matches,
} from './selector.ts'

interface Rule {
  readonly selector: CompiledSelector
  readonly order: number
  readonly declarations: readonly Declaration[]
}

/** How many characters of style sheets are read more than once. */
const MAX_READ_AGAIN = 1_000_000

/** With a longer selector around them, nested rules are not read. */
const MAX_PARENT_CHARS = 200

/** At-rules whose content applies as if it stood alone. */
const TRANSPARENT = new Set(['supports', 'layer', 'scope', 'container', 'starting-style'])

/** Rules that are left to read. */
interface Unread {
  readonly nodes: Iterable<CssNode>
  /** The selector of the rule around them. */
  readonly parent: string | undefined
  /** Text among them is less than the sheet, so that reading it as one comes to an end. */
  readonly inBlock: boolean
}

/** The rules of a page's style sheets that can hide or show text, by what an element must have to match them. */
export class StyleSheet {
  readonly #rules = new Map<string | undefined, Rule[]>()
  #order = 0
  #again = MAX_READ_AGAIN

  /** Reads the content of a `style` element. Never throws. */
  add(css: string): void {
    this.#readAll([{ nodes: nodesOf(css), parent: undefined, inBlock: false }])
  }

  /** The declarations that apply to an element, in ascending precedence; importance is left to the caller. */
  declarationsFor(element: Element, matching: Matching): Declaration[] {
    const found: Rule[] = []
    for (const key of keysOf(element)) {
      for (const rule of this.#rules.get(key) ?? []) {
        matching.steps--
        if (matching.steps < 0) return []
        if (matches(rule.selector.parts, element, matching)) found.push(rule)
      }
    }
    found.sort((one, other) => one.selector.specificity - other.selector.specificity || one.order - other.order)
    return found.flatMap((rule) => rule.declarations)
  }

  /** Rules in rules are put on a list of what is left to read: nesting costs no stack. */
  #readAll(left: Unread[]): void {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (next.parent !== undefined) this.#addRule(next.parent, declarationsIn(next.nodes))
      const inside: Unread[] = []
      for (const node of next.nodes) {
        // A nested rule that css-tree leaves as text.
        if (node.type === 'Raw' && next.inBlock)
          inside.push({ nodes: this.#readAgain(node.value), parent: undefined, inBlock: false })
        const block = blockOf(node)
        if (block !== undefined)
          inside.push({ nodes: block.children, parent: selectorOf(node, next.parent), inBlock: true })
      }
      // The first is read next, because of two equal rules the later one applies.
      for (const block of inside.reverse()) left.push(block)
    }
  }

  /** Text in which css-tree found no rules, such as deeply nested ones, each time less of it. */
  #readAgain(text: string): Iterable<CssNode> {
    this.#again -= text.length
    return text.includes('{') && this.#again > 0 ? nodesOf(text) : []
  }

  #addRule(selectors: string, declarations: readonly Declaration[]): void {
    if (declarations.length === 0) return
    const order = this.#order++
    for (const selector of compileSelectors(selectors)) {
      const rules = this.#rules.get(selector.key)
      if (rules === undefined) this.#rules.set(selector.key, [{ selector, order, declarations }])
      else rules.push({ selector, order, declarations })
    }
  }
}

function nodesOf(css: string): Iterable<CssNode> {
  // The marks of comments, with which old mail hides its styles from older programs, are no part of them.
  const sheet = parse(css.replace(/<!--|-->/g, ' '), AS_TEXT)
  return sheet.type === 'StyleSheet' ? sheet.children : []
}

/** What to read inside a node: rules, and at-rules that hold for a person at a desk. */
function blockOf(node: CssNode): Block | undefined {
  if (node.type === 'Rule') return node.block
  if (node.type !== 'Atrule' || node.block === null) return undefined
  const name = node.name.toLowerCase()
  const holds = name === 'media' ? mediaHolds(textOf(node.prelude)) : TRANSPARENT.has(name)
  return holds ? node.block : undefined
}

/** The selector of a rule inside another (CSS Nesting 3). One that would be too long to be compiled stays as it is. */
function selectorOf(node: CssNode, parent: string | undefined): string | undefined {
  if (node.type !== 'Rule') return parent
  const selector = textOf(node.prelude)
  if (selector.length > MAX_SELECTOR_CHARS || (parent?.length ?? 0) > MAX_PARENT_CHARS) return selector
  return selector.replaceAll('&', parent === undefined ? '*' : `:is(${parent})`)
}

function textOf(prelude: CssNode | null): string {
  return prelude?.type === 'Raw' ? prelude.value : ''
}

/** Whether a list of media queries holds on a screen of 1,024 by 768 in light colours. */
export function mediaHolds(query: string): boolean {
  return query
    .toLowerCase()
    .slice(0, 2_000)
    .split(',')
    .some((part) => {
      const negated = /^\s*not\b/.test(part)
      const holds =
        mediumHolds(part) && [...part.matchAll(/\(([^()]*)\)/g)].every(([, feature]) => featureHolds(feature))
      return holds !== negated
    })
}

function mediumHolds(query: string): boolean {
  return !/^\s*(?:(?:not|only)\s+)?(?:print|speech|aural|braille|handheld|projection|tty|tv|embossed)\b/.test(query)
}

function featureHolds(feature = ''): boolean {
  const [, bound, side, length, unit] =
    /^\s*(min|max)-(?:device-)?(width|height)\s*:\s*([\d.]+)(px|em|rem|)\s*$/.exec(feature) ?? []
  if (bound !== undefined) {
    const wanted = Number(length) * (unit === 'em' || unit === 'rem' ? 16 : 1)
    const actual = side === 'width' ? WINDOW.width : WINDOW.height
    return bound === 'min' ? actual >= wanted : actual <= wanted
  }
  return !/^\s*max-|dark|portrait|reduce|high|forced-colors|hover\s*:\s*none|pointer\s*:\s*(?:none|coarse)/.test(
    feature,
  )
}

function keysOf(element: Element): (string | undefined)[] {
  const id = attributeOf(element, 'id')?.toLowerCase()
  const classes = new Set((attributeOf(element, 'class') ?? '').toLowerCase().split(/\s+/))
  classes.delete('')
  return [
    undefined,
    element.tagName.toLowerCase(),
    ...[...classes].map((name) => `.${name}`),
    ...(id === undefined ? [] : [`#${id}`]),
  ]
}
