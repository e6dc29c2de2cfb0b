/** What all pages for people share, whichever service sends them. */

export { escapeHtml } from './escape-html.ts'
export { PAGE_HEADERS, type RenderedPage } from './rendered-page.ts'
export { PAGE_STYLE } from './style.ts'
