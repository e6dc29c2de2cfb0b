import MarkdownIt from 'markdown-it'
import type { AppShown } from './data.ts'
import { appName } from './parts.ts'

/**
 * CommonMark without HTML: what looks like a tag is shown as text. Links lead to http, https and mailto only. Images are
 * not loaded, because the server of the app would learn who reads.
 */
const markdown = new MarkdownIt('commonmark', { html: false }).disable(['image', 'html_block', 'html_inline'])
markdown.validateLink = (url) => /^(https?|mailto):/i.test(url)

/** Headings of the app come below that of the box, which is of the second level. */
markdown.core.ruler.push('lower_headings', ({ tokens }) => {
  for (const token of tokens) {
    if (/^h[1-6]$/.test(token.tag)) token.tag = `h${Math.min(Number(token.tag.slice(1)) + 2, 6)}`
  }
})

markdown.core.ruler.push('outside_links', ({ tokens }) => {
  for (const link of tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open')) {
    link.attrSet('target', '_blank')
    link.attrSet('rel', 'noopener noreferrer nofollow')
  }
})

/** @returns HTML of the markdown of an app; it holds no script, form, image or style, whatever the app wrote. */
export function renderDisclosure(source: string): string {
  return markdown.render(source)
}

/** What the app says, marked as such; nothing where it says nothing. */
export function disclosureBox(app: AppShown, disclosure: string | null): string {
  if (disclosure === null || disclosure.trim() === '') return ''
  return `<section class="disclosure" aria-labelledby="disclosure">
<h2 id="disclosure">What ${appName(app)} says</h2>
${renderDisclosure(disclosure)}</section>`
}
