import type { RenderedPage } from '@restante/service/pages'
import { renderPage } from './layout.ts'
import { renderStates, UNSUPPORTED } from './states.ts'

/** The keys that this browser holds. The server knows nothing of the list: a script reads it. */
export function sessionsPage(): RenderedPage {
  const list = {
    name: 'list',
    heading: 'Inboxes in this browser',
    content: `<p data-none hidden>This browser holds no key of an inbox.</p>
<ul class="keys" aria-label="Inboxes" data-keys></ul>
<p class="faint">With these keys, this browser signs in to apps. <b>Forget</b> deletes a key from this browser only, and the browser cannot sign in as that inbox then. The server still lists the key until it expires or an agent deletes it with the API. Apps where you are signed in keep you signed in.</p>`,
  }
  return renderPage({
    status: 200,
    title: 'Inboxes in this browser',
    content: renderStates([list, UNSUPPORTED]),
    script: { name: 'sessions.js', data: {} },
  })
}
