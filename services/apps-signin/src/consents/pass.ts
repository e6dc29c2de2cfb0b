import type { Subjects } from '../codes/claims.ts'
import { consentPage, ownerWaitingPage, type RenderedPage } from '../pages/index.ts'
import type { AskOwnerOptions } from './ask-owner.ts'
import { consentGate, type Gate, type Proven } from './gate.ts'
import { appShown, consentData } from './values.ts'

/** `open`: the code may be issued. `page`: the browser shows it. `refused`: the sign-in ends. */
export type Passage =
  | Extract<Gate, { kind: 'open' | 'refused' }>
  | { readonly kind: 'page'; readonly page: RenderedPage }

/** What comes next for a proven sign-in: its code, a question, or its end (apps 7.3). */
export async function passConsent(
  options: AskOwnerOptions & { readonly subjects: Subjects },
  proven: Proven,
): Promise<Passage> {
  const gate = await consentGate(options, proven)
  if (gate.kind === 'ask') return { kind: 'page', page: consentPage(consentData(options.subjects, proven)) }
  if (gate.kind !== 'owner') return gate
  const { jti, address } = proven.transaction
  const page = ownerWaitingPage({ app: appShown(proven), jti, address, expiresAt: gate.expiresAt })
  return { kind: 'page', page }
}
