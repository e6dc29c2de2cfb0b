import { type DefaultTreeAdapterTypes, defaultTreeAdapter, Parser } from 'parse5'

export type HtmlNode = DefaultTreeAdapterTypes.ChildNode

/** The tree of a page. */
export interface HtmlTree {
  readonly nodes: readonly HtmlNode[]
  /** Set when elements are nested too deep: the tree ends there. */
  readonly cutAt?: number
}

/** Browsers nest no deeper than about 512. The time of the parser grows with the depth. */
const MAX_DEPTH = 2_000

/** Ends the parsing of a page that is nested too deep. */
class TooDeepError extends Error {}

/**
 * The tree that a browser makes of html (HTML 13.2), with all its corrections of wrong nesting: a tree of another kind
 * would let a sender hide text from people and not from us.
 */
export function parseTree(html: string): HtmlTree {
  let depth = 0
  const parser = new Parser({
    // Scripts count as enabled, as in web mail: the text of `noscript` is hidden.
    scriptingEnabled: true,
    treeAdapter: {
      ...defaultTreeAdapter,
      onItemPush() {
        if (++depth > MAX_DEPTH) throw new TooDeepError('The page is nested too deep.')
      },
      onItemPop: () => void depth--,
    },
  })
  try {
    parser.tokenizer.write(html, true)
    return { nodes: parser.document.childNodes }
  } catch (err) {
    if (!(err instanceof TooDeepError)) throw err
    return { nodes: parser.document.childNodes, cutAt: parser.tokenizer.preprocessor.offset }
  }
}
