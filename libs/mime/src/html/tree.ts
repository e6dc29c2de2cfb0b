import { type DefaultTreeAdapterTypes, defaultTreeAdapter, Parser } from 'parse5'

export type HtmlNode = DefaultTreeAdapterTypes.ChildNode

/** The tree of a page. */
export interface HtmlTree {
  readonly nodes: readonly HtmlNode[]
  /** Set when elements are nested too deep, or too many: the tree ends there. */
  readonly cutAt?: number
}

/** Browsers nest no deeper than about 512. The time of the parser grows with the depth. */
const MAX_DEPTH = 2_000

/**
 * Wrong nesting makes the parser repeat elements, in some pages all formatting in each paragraph: honest pages need less than
 * twice their own.
 */
const MAX_REPEATED = 4
/** Elements that any page may have: a parser adds some to the shortest one. */
const FEW = 1_000

/** Ends the parsing of a page that is nested too deep, or has too many elements. */
class TooMuchError extends Error {}

/**
 * The tree that a browser makes of html (HTML 13.2), with all its corrections of wrong nesting: a tree of another kind
 * would let a sender hide text from people and not from us.
 */
export function parseTree(html: string): HtmlTree {
  let depth = 0
  let left = FEW + MAX_REPEATED * tagsIn(html)
  const parser = new Parser({
    // Scripts count as enabled, as in web mail: the text of `noscript` is hidden.
    scriptingEnabled: true,
    treeAdapter: {
      ...defaultTreeAdapter,
      createElement(name, namespace, attributes) {
        if (left-- === 0) throw new TooMuchError('The elements of the page are repeated too often.')
        return defaultTreeAdapter.createElement(name, namespace, attributes)
      },
      onItemPush() {
        if (++depth > MAX_DEPTH) throw new TooMuchError('The page is nested too deep.')
      },
      onItemPop: () => void depth--,
    },
  })
  try {
    parser.tokenizer.write(html, true)
    return { nodes: parser.document.childNodes }
  } catch (err) {
    if (!(err instanceof TooMuchError)) throw err
    return { nodes: parser.document.childNodes, cutAt: parser.tokenizer.preprocessor.offset }
  }
}

/** How many tags a page may have, at most. */
function tagsIn(html: string): number {
  let tags = 0
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) tags++
  return tags
}
