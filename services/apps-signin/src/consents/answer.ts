import { topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { holdScopes } from '@restante/tenancy'
import type { Subjects } from '../codes/claims.ts'
import { signInApproved, signInRefused } from '../events/events.ts'
import { PublicError } from '../http/public-error.ts'
import { consented, end } from '../transactions/steps.ts'
import { type Proven, sharesOwner } from './gate.ts'
import { ownerHashOf } from './owner-hash.ts'
import { asksOwner } from './rules.ts'
import { recordConsent } from './store.ts'
import { shownDigest } from './values.ts'

export interface AnswerOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly subjects: Subjects
}

/** The answer of the person at the browser. */
export interface Answer {
  readonly allow: boolean
  /** Names what the page showed. */
  readonly shown: string
}

/** `changed`: what would be shared is no longer what was shown, and nothing was recorded. */
export type Answered = 'allowed' | 'denied' | 'changed'

/**
 * Records whether the app may have what the page showed (apps 7.3). The same answer again changes nothing.
 * @throws PublicError 409 when it was answered otherwise; 410 when the sign-in is over.
 */
export function answerConsent(options: AnswerOptions, proven: Proven, { allow, shown }: Answer): Promise<Answered> {
  const { transaction } = proven
  const { db, outbox, subjects } = options
  if (!transaction.live) return Promise.resolve(repeated(proven, allow))
  if (!allow) return db.transaction((tx) => deny(tx, outbox, proven))
  if (transaction.consented_at !== null) return Promise.resolve('allowed')
  if (shown !== shownDigest(subjects, proven)) return Promise.resolve('changed')
  return db.transaction((tx) => permit(tx, outbox, proven))
}

async function permit(tx: Tx, outbox: Outbox, proven: Proven): Promise<Answered> {
  const { transaction, client, facts } = proven
  const { jti, organization_id: organizationId, pod_id, inbox_uid: inboxUid } = transaction
  if (!(await holdScopes(tx, [inboxUid, pod_id, organizationId]))) throw over()
  const owner = facts.owner === undefined ? null : ownerHashOf(facts.owner)
  const ownerHash = sharesOwner(proven) ? owner : null
  // The profile contains the identifier of the owner, which the page showed; with owner scopes the owner decides later.
  const isOwnerShown = transaction.scopes.includes('profile') && !asksOwner(transaction.scopes)
  if ((await consented(tx, { jti, ownerHash: isOwnerShown ? owner : ownerHash })) === undefined) throw over()
  const at = await recordConsent(tx, {
    clientId: client.clientId,
    organizationId,
    inboxUid,
    scopes: transaction.scopes,
    redirectUri: transaction.redirect_uri,
    disclosureVersion: client.disclosureVersion,
    ownerHash,
    givenBy: 'person',
  })
  await outbox.add(tx, topics['apps.accounts'], signInApproved(attemptOf(proven, at), 'person'))
  return 'allowed'
}

async function deny(tx: Tx, outbox: Outbox, proven: Proven): Promise<Answered> {
  const { jti } = proven.transaction
  const ended = await end(tx, { jti, outcome: 'access_denied', reason: DENIED })
  if (ended?.ended_at == null) throw over()
  await outbox.add(tx, topics['apps.accounts'], signInRefused(attemptOf(proven, ended.ended_at), DENIED))
  return 'denied'
}

const DENIED = 'consent_denied'

/** The answer to a repeated request whose first answer was lost. */
function repeated({ transaction }: Proven, allow: boolean): Answered {
  const { outcome, reason, consented_at } = transaction
  if (!allow && outcome === 'access_denied' && reason === DENIED) return 'denied'
  if (allow && consented_at !== null) return 'allowed'
  throw over()
}

/** What an event tells of a step of a sign-in. */
export function attemptOf({ transaction, client }: Pick<Proven, 'transaction' | 'client'>, at: Date) {
  const { jti, organization_id, pod_id, inbox_uid, api_key_id } = transaction
  const inbox = { organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid }
  return { inbox, client, transaction: jti, credentialId: api_key_id, at }
}

function over(): PublicError {
  return new PublicError(410, 'expired', 'The sign-in is over: begin again at the app')
}
