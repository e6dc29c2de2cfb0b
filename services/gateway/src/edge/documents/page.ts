import { createHash } from 'node:crypto'

/** What a page for a person shows, as HTML. */
export interface PageContent {
  readonly status: number
  readonly title: string
  /** Below the heading, which is the title. */
  readonly content: string
  /** Seconds after which it is worth another try. */
  readonly retryAfter?: number
}

/** A page as it is sent. */
export interface RenderedPage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

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
@media(forced-colors:active){main{border:1px solid}}
`

export interface PageOptions {
  /** Rules in addition to those of every page. */
  readonly style: string
  /** Whether the page holds a form, which leads to itself. */
  readonly form: boolean
}

/**
 * Renders pages for people whose address is a secret or a proof: it is neither kept nor passed on. Nothing is loaded from
 * anywhere, no script runs, forms lead nowhere else, and no other page shows them.
 */
export class PageRenderer {
  readonly #style: string
  readonly #policy: string

  constructor({ style, form }: PageOptions) {
    this.#style = `${STYLE}${style}`
    this.#policy = [
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(this.#style).digest('base64')}'`,
      `form-action ${form ? "'self'" : "'none'"}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; ')
  }

  /** @param page its texts are HTML: what others have written is escaped before. */
  render({ status, title, content, retryAfter }: PageContent): RenderedPage {
    const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${this.#style}</style>
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
      'content-security-policy': this.#policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex, nofollow',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    }
    return { status, headers, body }
  }
}
