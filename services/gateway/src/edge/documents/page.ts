import { createHash } from 'node:crypto'
import { PAGE_HEADERS, PAGE_STYLE, type RenderedPage } from '@restante/service/pages'

/** What a page for a person shows, as HTML. */
export interface PageContent {
  readonly title: string
  /** Below the heading, which is the title. */
  readonly content: string
  /** Above the heading. */
  readonly above?: string
  /** Further elements of the head. */
  readonly head?: string
}

/** A page that is the answer to a request. */
export interface PageAnswer extends PageContent {
  readonly status: number
  /** Seconds after which it is worth another try. */
  readonly retryAfter?: number
}

export interface PageOptions {
  /** Rules in addition to those of every page. */
  readonly style: string
  /** Whether the page holds a form, which leads to itself. */
  readonly form: boolean
  /** Whether it shows images of this origin. */
  readonly images?: boolean
}

/**
 * Renders pages for people. Nothing is loaded from anywhere else, no script runs, forms lead nowhere else, and no other
 * page shows them.
 */
export class PageRenderer {
  /** The Content-Security-Policy of the pages. */
  readonly policy: string
  readonly #style: string

  constructor({ style, form, images = false }: PageOptions) {
    this.#style = `${PAGE_STYLE}${style}`
    this.policy = [
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(this.#style).digest('base64')}'`,
      ...(images ? ["img-src 'self'"] : []),
      `form-action ${form ? "'self'" : "'none'"}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; ')
  }

  /** The document. @param page its texts are HTML: what others have written is escaped before. */
  document({ title, content, above, head }: PageContent): string {
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head === undefined ? '' : `${head}\n`}<style>${this.#style}</style>
</head>
<body>
<main>
${above === undefined ? '' : `${above}\n`}<h1>${title}</h1>
${content}
</main>
</body>
</html>
`
  }

  /** The answer with a page whose address is a secret or a proof: it is neither kept nor passed on. */
  render({ status, retryAfter, ...content }: PageAnswer): RenderedPage {
    const body = this.document(content)
    const headers = {
      ...PAGE_HEADERS,
      'content-length': String(Buffer.byteLength(body)),
      'content-security-policy': this.policy,
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    }
    return { status, headers, body }
  }
}
