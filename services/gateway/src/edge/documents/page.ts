import { createHash } from 'node:crypto'
import { PAGE_HEADERS, PAGE_STYLE, type RenderedPage } from '@restante/service/pages'

/** What a page for a person shows, as HTML. */
export interface PageContent {
  readonly status: number
  readonly title: string
  /** Below the heading, which is the title. */
  readonly content: string
  /** Seconds after which it is worth another try. */
  readonly retryAfter?: number
}

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
    this.#style = `${PAGE_STYLE}${style}`
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
      ...PAGE_HEADERS,
      'content-length': String(Buffer.byteLength(body)),
      'content-security-policy': this.#policy,
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    }
    return { status, headers, body }
  }
}
