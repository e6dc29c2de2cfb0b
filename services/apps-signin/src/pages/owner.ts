import type { RenderedPage } from '@restante/service/pages'
import { decision } from './consent.ts'
import type { OwnerData, OwnerDoneData, OwnerWaitingData } from './data.ts'
import { disclosureBox } from './disclosure.ts'
import { linkNoLongerValid } from './errors.ts'
import { renderPage } from './layout.ts'
import { appCard, appName, policyLinks, requestId, time, value, valueList } from './parts.ts'
import { ended, expired, FAILED, renderStates } from './states.ts'

/** The page of the link that was mailed to the human owner (apps 7.3). Opening it decides nothing. */
export function ownerPage({ app, token, address, values, disclosure, expiresAt }: OwnerData): RenderedPage {
  const ask = {
    name: 'ask',
    heading: `Share your details with ${appName(app)}?`,
    content: `${appCard(app)}
<p>Your inbox ${value(address)} is signing in to this app. The app asks to see these details of yours:</p>
${valueList(values)}
${disclosureBox(app, disclosure)}
${policyLinks(app)}
${decision('')}
<p class="faint">You are asked because you own the inbox, and its agent may not share your details without you. With Deny, the sign-in ends and nothing is shared. Without an answer by ${time(expiresAt)} nothing is shared either.</p>`,
  }
  return renderPage({
    status: 200,
    title: `Share your details with ${app.name ?? app.host}?`,
    content: renderStates([ask, { ...linkNoLongerValid, name: 'expired' }, ended(app), FAILED]),
    script: { name: 'decision.js', data: { kind: 'owner', token } },
  })
}

/** What the link shows once it was answered. */
export function ownerDonePage({ app, address, decision: made }: OwnerDoneData): RenderedPage {
  const [title, text] =
    made === 'allowed'
      ? ['You allowed it', `${appName(app)} gets your details as ${value(address)} signs in.`]
      : ['You denied it', `Nothing was shared with ${appName(app)}, and the sign-in of ${value(address)} ends.`]
  const content = `<h1>${title}</h1>\n${appCard(app)}\n<p role="status">${text} You can close this page.</p>`
  return renderPage({ status: 200, title, content })
}

/** In the browser of the sign-in, until the owner has answered. */
export function ownerWaitingPage({ app, jti, address, expiresAt }: OwnerWaitingData): RenderedPage {
  const waiting = {
    name: 'waiting',
    heading: 'Waiting for the owner',
    content: `${appCard(app)}
<p>The app asks for details of the person who owns ${value(address)}, and only that person can share them.</p>
<p class="busy">We have mailed the owner a link. When it is answered, this page continues by itself.</p>
<p class="faint">The link works until ${time(expiresAt)}. Then the sign-in ends, and nothing is shared.</p>
${requestId(jti)}`,
  }
  return renderPage({
    status: 200,
    title: 'Waiting for the owner',
    content: renderStates([waiting, expired(app), ended(app), FAILED]),
    script: { name: 'owner-waiting.js', data: { jti, 'expires-at': expiresAt.toISOString() } },
  })
}
