import { type DefaultTreeAdapterTypes, defaultTreeAdapter, html as HTML, Parser, serialize } from 'parse5'
import { affordableLength } from '../limits/affordable.ts'
import type { ParseLimits } from '../limits/limits.ts'
import { boundedAdapter, MAX_REPEATED, TooMuchError } from './bounded-adapter.ts'

type Node = DefaultTreeAdapterTypes.Node
type Parent = DefaultTreeAdapterTypes.ParentNode
type HtmlLimits = Pick<ParseLimits, 'extractedHtml' | 'htmlTags'>

/** As browsers, which nest no deeper. */
const MAX_DEPTH = 500
/** One reading nearly always makes the form that stays as it is, and a second one confirms it. */
const MAX_READINGS = 4

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))
/** About another page, or read differently by programs with and without scripts, frames or plug-ins. */
const LEFT_OUT = words('base link meta title script noscript iframe noframes noembed template')
/** Their content is text that ends nowhere, or is written without escapes. */
const AS_PRE = words('plaintext xmp')
/** A parser drops a line break after their opening tag. */
const DROPS_BREAK = words('pre listing textarea')

/**
 * The content of a page with each of its elements closed, so that it stays inside whatever it is put into: a tag of the
 * page closes nothing around it, and nothing that the page leaves open swallows what follows. Comments are left out,
 * because Outlook reads some of them as html; so are scripts, frames, SVG and MathML.
 * @returns undefined for a page that is too large, nested too deep, or read differently each time. Its time is bounded.
 */
export function balancedHtml(html: string, limits: HtmlLimits): string | undefined {
  try {
    let page = html
    for (let reading = 0; reading < MAX_READINGS && isAffordable(page, limits); reading++) {
      const written = writtenAgain(page, limits)
      // Written once, wrong nesting may still be read in another way: a tree can hold what no source gives directly.
      if (written === page) return page
      page = written
    }
  } catch (err) {
    if (!(err instanceof TooMuchError)) throw err
  }
  return undefined
}

/** Tags cost, not their length: an image may be inside of one, as a `data:` URL. */
function isAffordable(page: string, limits: HtmlLimits): boolean {
  const length = Math.max(page.length, limits.extractedHtml)
  return affordableLength(page, { ...limits, extractedHtml: length }) === page.length
}

function writtenAgain(html: string, limits: HtmlLimits): string {
  const context = defaultTreeAdapter.createElement('div', HTML.NS.HTML, [])
  const treeAdapter = boundedAdapter({
    depth: MAX_DEPTH,
    elements: MAX_REPEATED * limits.htmlTags,
    size: MAX_REPEATED * Math.max(html.length, limits.extractedHtml),
  })
  const parser = Parser.getFragmentParser(context, { treeAdapter })
  parser.tokenizer.write(html, true)
  return serialize(parser.getFragment(), { treeAdapter: writingAdapter })
}

const writingAdapter: typeof defaultTreeAdapter = {
  ...defaultTreeAdapter,
  getTagName: ({ tagName }) => (AS_PRE.has(tagName) ? 'pre' : tagName),
  getChildNodes(parent) {
    const children = parent.childNodes.filter(isWritten)
    return dropsBreak(parent, children[0]) ? [defaultTreeAdapter.createTextNode('\n'), ...children] : children
  },
}

function isWritten(node: Node): boolean {
  if (!defaultTreeAdapter.isElementNode(node)) return defaultTreeAdapter.isTextNode(node)
  return node.namespaceURI === HTML.NS.HTML && !LEFT_OUT.has(node.tagName)
}

function dropsBreak(parent: Parent, first: Node | undefined): boolean {
  if (!('tagName' in parent) || first === undefined || !defaultTreeAdapter.isTextNode(first)) return false
  return (DROPS_BREAK.has(parent.tagName) || AS_PRE.has(parent.tagName)) && first.value.startsWith('\n')
}
