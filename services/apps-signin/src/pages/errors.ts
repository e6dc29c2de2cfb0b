import { escapeHtml, type RenderedPage } from '@restante/service/pages'
import type { ErrorData } from './data.ts'
import { renderPage } from './layout.ts'

/** A page that says what is wrong and what to do. */
export function errorPage({ status, title, text }: ErrorData): RenderedPage {
  const content = `<h1>${escapeHtml(title)}</h1>\n<p role="alert">${escapeHtml(text)}</p>`
  return renderPage({ status, title, content })
}

/** The same for a link that never worked, that was used, and that is too old: a stranger learns nothing of it. */
export const linkNoLongerValid = {
  heading: 'This link is no longer valid',
  content: `<p>Each link works once and for a few minutes only. It was used, it is too old, or a part of it is missing.</p>
<p>Ask for a new one: the agent or the app that sent you here can make it.</p>`,
} as const

export function expiredLinkPage(): RenderedPage {
  const { heading, content } = linkNoLongerValid
  return renderPage({ status: 410, title: heading, content: `<h1>${heading}</h1>\n${content}` })
}
