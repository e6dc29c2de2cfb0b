import { defaultTreeAdapter } from 'parse5'

/** What the tree of a page may cost. */
export interface TreeBounds {
  /** Levels of elements inside each other. The time of a parser grows with the depth. */
  readonly depth: number
  /** Elements that are made, and as many times that one is put into another. */
  readonly elements: number
  /** Characters of names and attributes of all elements. A repeated element has the attributes of the first one. */
  readonly size: number
}

/** Ends the reading of a page that costs too much. */
export class TooMuchError extends Error {}

/** Wrong nesting makes a parser repeat and move elements: honest pages need less than twice their own. */
export const MAX_REPEATED = 4

/** Builds the tree of parse5 within bounds. The parser throws TooMuchError where a page exceeds them. */
export function boundedAdapter(most: TreeBounds): typeof defaultTreeAdapter {
  let depth = 0
  let made = 0
  let moves = 0
  let size = 0
  return {
    ...defaultTreeAdapter,
    createElement(name, namespace, attributes) {
      if (++made > most.elements) throw new TooMuchError('The elements of the page are repeated too often.')
      size += attributes.reduce((sum, { name: key, value }) => sum + key.length + value.length, name.length)
      if (size > most.size) throw new TooMuchError('The attributes of the page are too large.')
      return defaultTreeAdapter.createElement(name, namespace, attributes)
    },
    appendChild(parent, child) {
      if (++moves > most.elements) throw new TooMuchError('The elements of the page are moved too often.')
      defaultTreeAdapter.appendChild(parent, child)
    },
    onItemPush() {
      if (++depth > most.depth) throw new TooMuchError('The page is nested too deep.')
    },
    onItemPop: () => void depth--,
  }
}
