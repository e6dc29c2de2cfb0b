import { type AttributeSelector, parse, type Selector } from 'css-what'
import type { DefaultTreeAdapterTypes } from 'parse5'

export type Element = DefaultTreeAdapterTypes.Element

/** What matching needs to know of a page. */
export interface Matching {
  /** The comparisons that may still be made: a hostile sheet makes matching slow, not endless. */
  steps: number
  /** The sibling before an element. */
  readonly previous: Map<Element, Element>
}

/** A selector without commas. */
export interface CompiledSelector {
  readonly parts: readonly Selector[]
  /** Comparable numbers of ids, of classes, of names (Selectors 4 section 15). */
  readonly specificity: number
  /** An id (`#a`), class (`.a`) or name (`a`) that an element must have to match; undefined when any may. */
  readonly key: string | undefined
}

/** Longer ones are not read, nor are those that nest deeper than this length allows. */
export const MAX_SELECTOR_CHARS = 1_000

/** The selectors of a rule; what cannot be read matches nothing, as in browsers. */
export function compileSelectors(text: string): CompiledSelector[] {
  if (text.length > MAX_SELECTOR_CHARS) return []
  try {
    return parse(text).map((parts) => ({ parts, specificity: specificityOf(parts), key: keyOf(parts) }))
  } catch {
    return []
  }
}

export function attributeOf(element: Element, name: string): string | undefined {
  return element.attrs.find((attribute) => attribute.name === name)?.value
}

export function parentOf(element: Element): Element | undefined {
  const parent = element.parentNode
  return parent !== null && 'tagName' in parent ? parent : undefined
}

/** Whether a selector means this element. Each comparison takes a step; without any left nothing matches. */
export function matches(parts: readonly Selector[], element: Element, matching: Matching, end = parts.length): boolean {
  for (let at = end - 1; at >= 0; at--) {
    if (--matching.steps < 0) return false
    const part = parts[at]
    if (part === undefined) return false
    switch (part.type) {
      case 'descendant':
        for (let up = parentOf(element); up; up = parentOf(up)) if (matches(parts, up, matching, at)) return true
        return false
      case 'child': {
        const parent = parentOf(element)
        return parent !== undefined && matches(parts, parent, matching, at)
      }
      case 'adjacent': {
        const previous = matching.previous.get(element)
        return previous !== undefined && matches(parts, previous, matching, at)
      }
      case 'sibling':
        for (let previous = matching.previous.get(element); previous; previous = matching.previous.get(previous))
          if (matches(parts, previous, matching, at)) return true
        return false
      default:
        if (!matchesPart(part, element, matching)) return false
    }
  }
  return true
}

function matchesPart(part: Selector, element: Element, matching: Matching): boolean {
  switch (part.type) {
    case 'universal':
      return true
    case 'tag':
      return element.tagName.toLowerCase() === part.name.toLowerCase()
    case 'attribute':
      return matchesAttribute(part, element)
    case 'pseudo':
      return matchesPseudo(part.name, part.data, element, matching)
    default:
      return false
  }
}

/** Upper and lower case are one, as they are in the quirks mode in which most mail is shown. */
function matchesAttribute(part: AttributeSelector, element: Element): boolean {
  const actual = attributeOf(element, part.name.toLowerCase())?.toLowerCase()
  const wanted = part.value.toLowerCase()
  if (actual === undefined) return part.action === 'not'
  switch (part.action) {
    case 'exists':
      return true
    case 'equals':
      return actual === wanted
    case 'not':
      return actual !== wanted
    case 'element':
      return actual.split(/\s+/).includes(wanted)
    case 'start':
      return wanted !== '' && actual.startsWith(wanted)
    case 'end':
      return wanted !== '' && actual.endsWith(wanted)
    case 'any':
      return wanted !== '' && actual.includes(wanted)
    default:
      return actual === wanted || actual.startsWith(`${wanted}-`)
  }
}

/** States such as `:hover` never hold for a reader who only looks. */
function matchesPseudo(name: string, data: unknown, element: Element, matching: Matching): boolean {
  const some = (): boolean =>
    Array.isArray(data) && data.some((parts) => Array.isArray(parts) && matches(parts, element, matching))
  switch (name) {
    case 'is':
    case 'where':
    case 'matches':
    case '-webkit-any':
      return some()
    case 'not':
      return !some()
    case 'root':
      return element.tagName === 'html'
    case 'link':
    case 'any-link':
      return element.tagName === 'a' && attributeOf(element, 'href') !== undefined
    case 'first-child':
      return !matching.previous.has(element)
    case 'last-child':
      return (element.parentNode?.childNodes ?? []).findLast((node) => 'tagName' in node) === element
    default:
      return false
  }
}

function specificityOf(parts: readonly Selector[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === 'attribute') return sum + (part.name === 'id' && part.action === 'equals' ? 1_000_000 : 1_000)
    if (part.type === 'pseudo') return sum + (part.name === 'where' ? 0 : 1_000)
    return part.type === 'tag' ? sum + 1 : sum
  }, 0)
}

function keyOf(parts: readonly Selector[]): string | undefined {
  let name: string | undefined
  for (const part of parts.toReversed()) {
    if (part.type === 'tag') name = part.name.toLowerCase()
    else if (part.type === 'attribute' && part.name === 'id' && part.action === 'equals')
      return `#${part.value.toLowerCase()}`
    else if (part.type === 'attribute' && part.name === 'class' && part.action === 'element')
      return `.${part.value.toLowerCase()}`
    else if (part.type !== 'attribute' && part.type !== 'pseudo' && part.type !== 'universal') break
  }
  return name
}
