import { topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { type Client, findClient } from '../apps/find.ts'
import { signInApproved, signInRefused } from '../events/events.ts'
import { PublicError } from '../http/public-error.ts'
import { ownerDecided } from '../transactions/steps.ts'
import { findTransaction } from '../transactions/store.ts'
import { attemptOf } from './answer.ts'
import { type BoundTransaction, isBound } from './bound.ts'
import { decideApproval, findByToken, type OwnerApproval } from './owner-approvals.ts'
import { ownerHashOf } from './owner-hash.ts'
import { hashOfToken, isOwnerToken } from './owner-links.ts'

export interface DecideOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'apps-signin'>
  readonly outbox: Outbox
  readonly openClients: boolean
}

/** What a mailed link stands for. */
export interface OwnerQuestion {
  readonly approval: OwnerApproval
  readonly transaction: BoundTransaction
  readonly client: Client
}

/**
 * The question of a link, decided or not; undefined when the link is unknown, or the sign-in or its app is gone.
 */
export async function findQuestion(options: DecideOptions, token: unknown): Promise<OwnerQuestion | undefined> {
  const { db, openClients } = options
  if (!isOwnerToken(token)) return undefined
  const approval = await findByToken(db, hashOfToken(token))
  const transaction = approval && (await findTransaction(db, approval.jti))
  const client = transaction && (await findClient(db, transaction.client_id, { open: openClients }))
  if (approval === undefined || transaction === undefined || client === undefined) return undefined
  if (!isBound(transaction)) return undefined
  return { approval, transaction, client }
}

/** The facts about the owner who was asked, as long as that is the owner. */
export async function ownerAsked({ gateway }: DecideOptions, { approval }: OwnerQuestion) {
  const { owner } = await gateway.call('gateway.getSignInFacts', { inbox: { uid: approval.inbox_uid }, used: false })
  if (owner === undefined || Buffer.compare(ownerHashOf(owner), approval.owner_hash) !== 0) return undefined
  return owner
}

/**
 * Records the answer of the human owner, once: the sign-in goes on, or ends (apps 7.3). The same answer again changes
 * nothing.
 * @throws PublicError 409 when it was answered otherwise, 410 when nothing can be answered any more.
 */
export async function decideOwner(options: DecideOptions, token: string, allow: boolean): Promise<void> {
  const { db, outbox } = options
  const question = await findQuestion(options, token)
  const decision = allow ? 'allowed' : 'refused'
  if (question?.approval.decision === decision) return
  if (question !== undefined && question.approval.decision !== null) throw decided()
  if (!question?.approval.open || (await ownerAsked(options, question)) === undefined) throw over()
  const { jti, owner_hash: ownerHash } = question.approval
  const isFirst = await db.transaction(async (tx) => {
    if (!(await decideApproval(tx, hashOfToken(token), decision))) return false
    const changed = await ownerDecided(tx, { jti, allowed: allow, ownerHash })
    const at = allow ? changed?.owner_approved_at : changed?.ended_at
    if (at == null) throw over()
    const attempt = attemptOf(question, at)
    const event = allow ? signInApproved(attempt, 'owner') : signInRefused(attempt, 'owner_refused')
    await outbox.add(tx, topics['apps.accounts'], event)
    return true
  })
  if (isFirst) return
  const later = await findQuestion(options, token)
  if (later?.approval.decision === decision) return
  throw later?.approval.decision == null ? over() : decided()
}

function decided(): PublicError {
  return new PublicError(409, 'invalid_request', 'The question was answered before')
}

function over(): PublicError {
  return new PublicError(410, 'expired', 'The link is no longer valid')
}
