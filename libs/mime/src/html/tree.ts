import { type DefaultTreeAdapterTypes, Parser } from 'parse5'
import { boundedAdapter, MAX_REPEATED, TooMuchError } from './bounded-adapter.ts'

export type HtmlNode = DefaultTreeAdapterTypes.ChildNode

/** The tree of a page. */
export interface HtmlTree {
  readonly nodes: readonly HtmlNode[]
  /** Set when the page costs too much: the tree ends there. */
  readonly cutAt?: number
}

/** Browsers nest no deeper than about 512. */
const MAX_DEPTH = 2_000
/** Tags, and characters, that any page may have: a parser adds some to the shortest one. */
const FEW = { tags: 250, characters: 100_000 }

/**
 * The tree that a browser makes of html (HTML 13.2), with all its corrections of wrong nesting: a tree of another kind
 * would let a sender hide text from people and not from us.
 */
export function parseTree(html: string): HtmlTree {
  const parser = new Parser({
    // Scripts count as enabled, as in web mail: the text of `noscript` is hidden.
    scriptingEnabled: true,
    treeAdapter: boundedAdapter({
      depth: MAX_DEPTH,
      elements: MAX_REPEATED * (FEW.tags + tagsIn(html)),
      size: MAX_REPEATED * Math.max(FEW.characters, html.length),
    }),
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
