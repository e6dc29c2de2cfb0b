import type { RenderedPage } from '@restante/service/pages'
import type { ConsentData } from './data.ts'
import { disclosureBox } from './disclosure.ts'
import { renderPage } from './layout.ts'
import { appCard, appName, policyLinks, requestId, value, valueList } from './parts.ts'
import { ended, expired, FAILED, renderStates } from './states.ts'

const OWNER_IS_ASKED =
  '<p>It also asks for details of the person who owns the inbox. With Allow, that person is asked by mail, and the sign-in waits for the answer.</p>'

/** The question whether an app may have the values that are shown (apps 7.3). */
export function consentPage({ app, jti, address, values, ownerIsAsked, disclosure, shown }: ConsentData): RenderedPage {
  const ask = {
    name: 'ask',
    heading: `Sign in to ${appName(app)}?`,
    content: `${appCard(app)}
<p>The app asks to sign in this inbox:</p>
<p class="account">${value(address)}</p>
<p>It gets exactly this:</p>
${valueList(values)}
${ownerIsAsked ? OWNER_IS_ASKED : ''}
${disclosureBox(app, disclosure)}
${policyLinks(app)}
${decision('')}
<p class="faint">Once allowed, you are not asked again until 180 days after the last sign-in, or until the app asks for something else.</p>
${requestId(jti)}`,
  }
  return renderPage({
    status: 200,
    title: `Sign in to ${app.name ?? app.host}?`,
    content: renderStates([ask, expired(app), ended(app), FAILED]),
    script: { name: 'decision.js', data: { kind: 'consent', jti, shown } },
  })
}

/** The two answers, of equal size. @param note HTML between them and what was asked. */
export function decision(note: string): string {
  return `${note}<p class="actions"><button type="button" data-allow="true">Allow</button> <button type="button" class="second" data-allow="false">Deny</button></p>`
}
