import { type CssNode, parse } from 'css-tree'

/** One declaration; its property and value are in lower case. */
export interface Declaration {
  readonly property: string
  readonly value: string
  readonly important: boolean
}

/** Values are read as text: this keeps css-tree from building, and from recursing into, what is not looked at. */
export const AS_TEXT = {
  parseValue: false,
  parseRulePrelude: false,
  parseAtrulePrelude: false,
  parseCustomProperty: false,
}

/** The properties that can hide text, or show it again. */
const LOOKED_AT = new Set(
  (
    'display visibility content-visibility opacity filter color -webkit-text-fill-color background background-color ' +
    'background-image font font-size letter-spacing line-height text-indent overflow overflow-x overflow-y width height ' +
    'max-width max-height position left right top bottom margin margin-left margin-top clip clip-path transform scale ' +
    'translate zoom inset inset-inline-start inset-block-start margin-inline-start margin-block-start inline-size ' +
    'block-size max-inline-size max-block-size'
  ).split(' '),
)

/** The declarations of a `style` attribute that matter here. Never throws. */
export function readDeclarations(style: string): Declaration[] {
  const list = parse(style, { ...AS_TEXT, context: 'declarationList' })
  return list.type === 'DeclarationList' ? declarationsIn(list.children) : []
}

export function declarationsIn(nodes: Iterable<CssNode>): Declaration[] {
  const found: Declaration[] = []
  for (const node of nodes) {
    if (node.type !== 'Declaration' || node.value.type !== 'Raw') continue
    const property = unescaped(node.property)
    if (!LOOKED_AT.has(property)) continue
    found.push({ property, value: unescaped(node.value.value), important: node.important !== false })
  }
  return found
}

/** `d\69splay` and `dis/**\/play` are ways to write `display` that browsers understand or ignore (CSS Syntax 4.3.7). */
function unescaped(text: string): string {
  const plain = text.includes('/*') ? text.replace(/\/\*[\s\S]*?\*\//g, ' ') : text
  if (!plain.includes('\\')) return plain.trim().toLowerCase()
  return plain
    .replace(/\\(?:([0-9a-f]{1,6})\s?|([\s\S]))/gi, (_, hex?: string, char?: string) =>
      hex === undefined ? (char ?? '') : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff)),
    )
    .trim()
    .toLowerCase()
}
