import { escapeHtml, PAGE_HEADERS, type RenderedPage } from '@restante/service/pages'
import { assetPath } from './assets.ts'

/** What a page shows. Its parts are HTML: what others have written is escaped before. */
interface PageParts {
  readonly status: number
  /** Plain text. */
  readonly title: string
  readonly content: string
  /** The module that runs in it, and what it reads: `data-` attributes of `main`. */
  readonly script?: { readonly name: string; readonly data: Readonly<Record<string, string>> }
  /** More of the head. */
  readonly head?: string
  /** Whether the page links to the list of the keys of this browser. */
  readonly sessions?: boolean
}

/** Exactly that of apps 7.1. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const SESSIONS = '<footer><a href="/sessions">Inboxes in this browser</a></footer>\n'

/** A page of sign-in. Nothing is loaded from another origin, and a page of another origin has no handle of it. */
export function renderPage({ status, title, content, script, head, sessions }: PageParts): RenderedPage {
  const module =
    script === undefined
      ? ''
      : `<script type="module" src="${assetPath(script.name)}"></script>
<noscript><link rel="stylesheet" href="${assetPath('no-script.css')}"></noscript>
`
  const data = Object.entries(script?.data ?? {}).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`)
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${assetPath('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetPath('style.css')}">
${head ?? ''}${module}</head>
<body>
<main${data.join('')}>
${content}
</main>
${sessions === true ? SESSIONS : ''}</body>
</html>
`
  const headers = {
    ...PAGE_HEADERS,
    'content-length': String(Buffer.byteLength(body)),
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
  }
  return { status, headers, body }
}
