import type { SetupResult } from '@restante/contracts/internal'
import { escapeHtml, type RenderedPage } from '@restante/service/pages'
import { type PageAnswer, PageRenderer } from '../documents/page.ts'

type Returned = Extract<SetupResult, { readonly outcome: 'returned' }>
type Record = Returned['records'][number]

/** What the DNS provider says of the change. It proves nothing: DNS decides. */
export type Report =
  | { readonly kind: 'applied' | 'cancelled' }
  /** `code` is one of the known words. */
  | { readonly kind: 'failed'; readonly code: string | undefined }

/** The pages that a browser comes back to from a DNS provider. */
export type Page =
  | { readonly kind: 'unknown' | 'deleted' | 'later' }
  | { readonly kind: 'returned'; readonly result: Returned; readonly report: Report }

const STYLE = `
ul{margin:0 0 1rem;padding:0;list-style:none;border-top:1px solid var(--line)}
li{padding:.6rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
ul:last-child{margin:0}
li b{display:block}
li.open{padding-left:.75rem;border-left:4px solid var(--main)}
`

const renderer = new PageRenderer({ style: STYLE, form: false })

/** A page as it is sent. */
export function render(page: Page): RenderedPage {
  return renderer.render(contentOf(page))
}

function contentOf(page: Page): PageAnswer {
  switch (page.kind) {
    case 'unknown':
      return {
        status: 404,
        title: 'This page is no longer valid',
        content:
          '<p>It works once, within an hour after the setup link was made. Nothing is lost: DNS records that were published are found by the next check.</p><p>To continue, get a new setup link where you started.</p>',
      }
    case 'deleted':
      return {
        status: 410,
        title: 'This domain was deleted',
        content:
          '<p role="status">It was deleted here while you were at your DNS provider. Remove its new DNS records there if you do not need them.</p>',
      }
    case 'later':
      return {
        status: 503,
        title: 'Please reload in a minute',
        content: '<p>The result could not be determined now. Reload this page to try again.</p>',
        retryAfter: 60,
      }
    case 'returned':
      return { status: 200, ...returnedContent(page.result, page.report) }
  }
}

function returnedContent(result: Returned, report: Report): { title: string; content: string } {
  const domain = `<strong>${escapeHtml(result.domain)}</strong>`
  if (result.verified) {
    return {
      title: 'Your domain is ready',
      content: `<p role="status">All DNS records of ${domain} are published, and the domain is verified. You can close this page.</p>`,
    }
  }
  if (result.records.every(({ status }) => status === 'VALID')) {
    return {
      title: 'All DNS records are published',
      content: `<p role="status">The last checks of ${domain} run automatically and take a few minutes. You can close this page.</p>`,
    }
  }
  return { title: TITLES[report.kind], content: `${summary(result, report, domain)}${listOf(result.records)}` }
}

const TITLES = {
  applied: 'Not all DNS records are visible yet',
  cancelled: 'You cancelled the change',
  failed: 'Your DNS provider could not make the change',
} as const

function summary({ records }: Returned, report: Report, domain: string): string {
  const found = records.filter(({ status }) => status === 'VALID').length
  const correction = records.some(({ status }) => status === 'INVALID')
    ? ' A record that has another value must be corrected at your DNS provider.'
    : ''
  const count = `${found} of ${records.length} DNS records of ${domain} were found.`
  switch (report.kind) {
    case 'applied':
      return `<p role="status">${count}</p><p>New records are often visible within minutes; a record that replaces an old one can take a day. Checks continue automatically, so you can close this page.${correction}</p>`
    case 'cancelled':
      return `<p role="status">${count}</p><p>To publish the rest, get a new setup link where you started, or enter the records at your DNS provider yourself.</p>`
    case 'failed': {
      const reported =
        report.code === undefined ? '' : ` The provider reported <code>${escapeHtml(report.code)}</code>.`
      return `<p role="status">${count}${reported}</p><p>Try again later with a new setup link, or enter the records at your DNS provider yourself.</p>`
    }
  }
}

const FOUND = { VALID: 'Found', MISSING: 'Not found', INVALID: 'Has another value' } as const

function listOf(records: readonly Record[]): string {
  const items = records.map(
    ({ type, name, status }) =>
      `<li${status === 'VALID' ? '' : ' class="open"'}><b>${FOUND[status]}</b>${type} ${escapeHtml(name)}</li>`,
  )
  return `<ul aria-label="DNS records">${items.join('')}</ul>`
}
