import MarkdownIt from 'markdown-it'

/** Markdown without HTML: what looks like a tag is shown as text. */
const markdown = new MarkdownIt({ html: false })

/** Headings have the fragment identifiers that links to them use. */
markdown.core.ruler.push('anchors', ({ tokens }) => {
  const taken = new Map<string, number>()
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const anchor = anchorOf(tokens[index + 1]?.children?.map(({ content }) => content).join('') ?? '')
    const count = taken.get(anchor) ?? 0
    taken.set(anchor, count + 1)
    token.attrSet('id', count === 0 ? anchor : `${anchor}-${count}`)
  }
})

/** As code hosts make it: lower case, without punctuation, with hyphens for spaces. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** Wide tables scroll by themselves; a keyboard can scroll only what it can focus. */
markdown.renderer.rules['table_open'] = () =>
  '<div class="wide" role="region" aria-label="Table" tabindex="0">\n<table>\n'
markdown.renderer.rules['table_close'] = () => '</table>\n</div>\n'

/** The HTML of a document. */
export function htmlOf(source: string): string {
  return markdown.render(source)
}
