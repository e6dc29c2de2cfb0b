import { type Exchange, sendJson } from '@restante/service/http'
import type { Subjects } from '../codes/claims.ts'
import { readPageCall } from '../http/page-calls.ts'
import { PublicError } from '../http/public-error.ts'
import type { PublicRoute } from '../http/public-routes.ts'
import { sendPage } from '../http/response.ts'
import { expiredLinkPage, ownerDonePage, ownerPage, type RenderedPage } from '../pages/index.ts'
import { findByCookie } from '../transactions/cookies.ts'
import { type AnswerOptions, answerConsent } from './answer.ts'
import { isBound } from './bound.ts'
import { type DecideOptions, decideOwner, findQuestion, ownerAsked } from './decide-owner.ts'
import { proveAgain } from './proven.ts'
import { appShown } from './values.ts'

export interface ConsentOptions extends AnswerOptions, DecideOptions {
  readonly subjects: Subjects
  readonly authBase: string
}

/** The answers of the person at the browser, and of the human owner. */
export function consentRoutes(options: ConsentOptions): PublicRoute[] {
  return [
    {
      method: 'POST',
      path: '/v0/authorize/consent',
      operation: 'signin.consent',
      serve: async (exchange) => sendJson(exchange.response, 200, await consent(options, exchange)),
    },
    {
      method: 'GET',
      path: '/owner/{token}',
      operation: 'signin.owner',
      head: true,
      serve: async ({ response }, { token = '' }) => sendPage(response, await ownerLink(options, token)),
    },
    {
      method: 'POST',
      path: '/owner/decide',
      operation: 'signin.ownerDecide',
      serve: async (exchange) => {
        const { token, allow, ...rest } = await readPageCall(exchange, options.authBase)
        if (typeof token !== 'string' || typeof allow !== 'boolean' || Object.keys(rest).length > 0) {
          throw new PublicError(400, 'invalid_request', 'Send exactly the members token and allow')
        }
        await decideOwner(options, token, allow)
        exchange.response.writeHead(204).end()
      },
    },
  ]
}

/** After any answer the browser goes on where the sign-in does: to the app, or to the page of what has changed. */
async function consent(options: ConsentOptions, exchange: Exchange): Promise<{ location: string }> {
  const { db, authBase } = options
  const { jti, allow, shown, ...rest } = await readPageCall(exchange, authBase)
  if (typeof allow !== 'boolean' || typeof shown !== 'string' || Object.keys(rest).length > 0) {
    throw new PublicError(400, 'invalid_request', 'Send exactly the members jti, allow and shown')
  }
  const transaction = await findByCookie(db, exchange.request, jti)
  if (transaction === undefined) throw new PublicError(401, 'invalid_request', 'This browser did not begin the sign-in')
  if (!isBound(transaction)) throw new PublicError(409, 'invalid_request', 'The sign-in does not ask for consent yet')
  const proven = await proveAgain(options, transaction)
  if (proven === undefined) throw new PublicError(410, 'expired', 'The sign-in is over: begin again at the app')
  await answerConsent(options, proven, { allow, shown })
  return { location: `${authBase}/v0/authorize/continue?jti=${transaction.jti}` }
}

/** The page of a mailed link. Opening it decides nothing. */
async function ownerLink(options: ConsentOptions, token: string): Promise<RenderedPage> {
  const question = await findQuestion(options, token)
  if (question === undefined) return expiredLinkPage()
  const { approval, transaction, client } = question
  const { address, scopes } = transaction
  const app = appShown(question)
  if (approval.decision !== null) return ownerDonePage({ app, address, decision: approval.decision })
  const owner = approval.open && transaction.live ? await ownerAsked(options, question) : undefined
  if (owner === undefined) return expiredLinkPage()
  const values = {
    ...(scopes.includes('owner_profile') && owner.name && { owner_name: owner.name }),
    ...(scopes.includes('owner_email') && { owner_email: owner.email }),
  }
  const { termsUrl = null, privacyUrl = null, disclosure = null } = client
  const shown = { ...app, termsUrl, privacyUrl }
  return ownerPage({ app: shown, token, address, values, disclosure, expiresAt: approval.expires_at })
}
