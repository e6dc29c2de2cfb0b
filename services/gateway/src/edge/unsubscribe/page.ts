import { escapeHtml, type RenderedPage } from '@restante/service/pages'
import { PageRenderer } from '../documents/page.ts'

/** The pages behind a link to unsubscribe. */
export type Page =
  | { readonly kind: 'ask' | 'done'; readonly recipient: string }
  | { readonly kind: 'unknown' | 'incomplete' | 'later' }

const STATUS = { ask: 200, done: 200, unknown: 404, incomplete: 400, later: 503 } as const

const STYLE = `
button{width:100%;min-height:3rem;margin:.5rem 0 1rem;padding:.5rem 1rem;border:0;border-radius:.5rem;background:var(--main);color:var(--on);font:inherit;font-weight:600;cursor:pointer}
button:hover{filter:brightness(1.1)}
button:focus-visible{outline:3px solid var(--text);outline-offset:3px}
@media(forced-colors:active){button{border:1px solid}}
`

const renderer = new PageRenderer({ style: STYLE, form: true })

/** A page as it is sent. */
export function render(page: Page): RenderedPage {
  return renderer.render({
    status: STATUS[page.kind],
    ...contentOf(page),
    ...(page.kind === 'later' && { retryAfter: 60 }),
  })
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
