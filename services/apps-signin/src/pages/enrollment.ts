import type { RenderedPage } from '@restante/service/pages'
import type { EnrollmentData } from './data.ts'
import { linkNoLongerValid } from './errors.ts'
import { renderPage } from './layout.ts'
import { appCard, appName, value } from './parts.ts'
import { FAILED, renderStates, UNSUPPORTED } from './states.ts'

/**
 * The page of a magic link (apps 7.2). It does nothing by itself: programs that follow links in mails and chats also run
 * scripts, and a person who was sent the link of a stranger must see as whom the browser is about to sign in.
 */
export function enrollmentPage({ app, ticket, address, continueTo }: EnrollmentData): RenderedPage {
  const confirm = {
    name: 'confirm',
    heading: `Sign in to ${appName(app)}`,
    content: `${appCard(app)}
<p>An agent made this link to sign in as:</p>
<p class="account">${value(address)}</p>
<p class="actions"><button type="button" data-confirm>Sign in</button></p>
<p class="faint">This browser then keeps a key of the inbox for 30 days, with which it can sign in to other apps too. The app can see nothing yet: you are asked before. Did you not expect this link? Close the page, and nothing happens.</p>`,
  }
  const working = {
    name: 'working',
    heading: `Signing in to ${appName(app)}`,
    content: `${appCard(app)}\n<p class="busy">Making a key of ${value(address)} in this browser …</p>`,
  }
  return renderPage({
    status: 200,
    title: `Sign in to ${app.name ?? app.host}`,
    content: renderStates([confirm, working, { ...linkNoLongerValid, name: 'expired' }, FAILED, UNSUPPORTED]),
    script: {
      name: 'enrollment.js',
      data: { ticket, 'continue-to': continueTo, 'app-name': app.name ?? app.host },
    },
    sessions: true,
  })
}
