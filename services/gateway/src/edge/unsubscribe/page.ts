import { createHash } from 'node:crypto'
import { escapeHtml } from '../documents/escape-html.ts'

/** The pages behind a link to unsubscribe. */
export type Page =
  | { readonly kind: 'ask' | 'done'; readonly recipient: string }
  | { readonly kind: 'unknown' | 'incomplete' | 'later' }

const STATUS = { ask: 200, done: 200, unknown: 404, incomplete: 400, later: 503 } as const

const STYLE = `
:root{color-scheme:light dark;--back:#f4f5f7;--card:#fff;--text:#1c1e21;--faint:#555b63;--line:#d9dce1;--main:#0b57d0;--on:#fff}
@media(prefers-color-scheme:dark){:root{--back:#121417;--card:#1d2024;--text:#eceef1;--faint:#aab0b8;--line:#363b42;--main:#a8c7fa;--on:#062e6f}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:28rem;padding:2rem 1.5rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}
h1{margin:0 0 .75rem;font-size:1.5rem;line-height:1.25}
p{margin:0 0 1rem;overflow-wrap:anywhere}
p:last-child{margin:0}
.faint{color:var(--faint);font-size:.9rem}
button{width:100%;min-height:3rem;margin:.5rem 0 1rem;padding:.5rem 1rem;border:0;border-radius:.5rem;background:var(--main);color:var(--on);font:inherit;font-weight:600;cursor:pointer}
button:hover{filter:brightness(1.1)}
button:focus-visible{outline:3px solid var(--text);outline-offset:3px}
@media(forced-colors:active){main,button{border:1px solid}}
`

/** Nothing is loaded from anywhere, no script runs, the form leads nowhere else, and no other page shows this one. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A page as it is sent. The address of the page is a secret of the recipient: it is neither kept nor passed on. */
export function render(page: Page): { status: number; headers: Record<string, string>; body: string } {
  const { title, content } = contentOf(page)
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'content-security-policy': POLICY,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow',
    ...(page.kind === 'later' && { 'retry-after': '60' }),
  }
  return { status: STATUS[page.kind], headers, body }
}

function contentOf(page: Page): { title: string; content: string } {
  switch (page.kind) {
    case 'ask':
      return {
        title: 'Unsubscribe',
        content: `<p>Stop mail to <strong>${escapeHtml(page.recipient)}</strong> from the sender of this message?</p>
<form method="post">
<input type="hidden" name="List-Unsubscribe" value="One-Click">
<button type="submit">Unsubscribe</button>
</form>
<p class="faint">Everyone in the sender’s organization is then refused when they write to this address, and cannot undo it. Nothing happens until you press the button.</p>`,
      }
    case 'done':
      return {
        title: 'You are unsubscribed',
        content: `<p role="status">The sender’s organization can no longer send mail to <strong>${escapeHtml(page.recipient)}</strong>. You can close this page.</p>`,
      }
    case 'unknown':
      return {
        title: 'This link does not work',
        content:
          '<p>It is incomplete, or the message is too old. Use the link of a newer message from the same sender.</p>',
      }
    case 'incomplete':
      return {
        title: 'Nothing was changed',
        content: '<p>The request was incomplete. Open the link of the message again and press the button.</p>',
      }
    case 'later':
      return {
        title: 'Please try again in a minute',
        content: '<p>The request could not be carried out now. Nothing was changed.</p>',
      }
  }
}
