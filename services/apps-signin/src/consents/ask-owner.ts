import { randomUUID } from 'node:crypto'
import type { SignInOwner } from '@restante/contracts/internal'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { holdScopes } from '@restante/tenancy'
import type { Client } from '../apps/find.ts'
import type { BoundTransaction } from './bound.ts'
import {
  awaitOwner,
  countOwnerMail,
  findApproval,
  insertApproval,
  lockOwnerMails,
  noteMailed,
  type OwnerApproval,
} from './owner-approvals.ts'
import { ownerHashOf } from './owner-hash.ts'
import type { OwnerLinks } from './owner-links.ts'
import { ownerMail } from './owner-mail.ts'

export interface AskOwnerOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'apps-signin'>
  readonly links: OwnerLinks
}

/**
 * `waiting`: the owner was mailed. `allowed`: and has allowed it. `timeout`: and has not answered. `limited`: the owner
 * got as many mails as an hour allows. `unavailable`: the mail reaches no verified human, or another one than was asked.
 * `over`: the sign-in has ended.
 */
export type AskedOwner =
  | { readonly kind: 'waiting'; readonly expiresAt: Date }
  | { readonly kind: 'allowed' | 'timeout' | 'limited' | 'unavailable' | 'over' }

interface Question {
  readonly transaction: BoundTransaction
  readonly client: Client
  readonly owner: SignInOwner
}

/**
 * Asks the human owner once for a sign-in, by mail. The question is stored before it is mailed: after a crash in between
 * the next call repeats the mail with the same id and link, which sends nothing twice.
 */
export async function askOwner(options: AskOwnerOptions, question: Question): Promise<AskedOwner> {
  const { transaction, owner } = question
  const approval = (await findApproval(options.db, transaction.jti)) ?? (await store(options, question))
  if (typeof approval === 'string') return { kind: approval }
  if (Buffer.compare(approval.owner_hash, ownerHashOf(owner)) !== 0) return { kind: 'unavailable' }
  // Allowed since the sign-in was read; the code is issued from its row as it is by then.
  if (approval.decision === 'allowed') return { kind: 'allowed' }
  if (!approval.open) return { kind: approval.decision === null ? 'timeout' : 'over' }
  if (approval.mailed_at === null && !(await mail(options, question, approval.mail_id))) return { kind: 'unavailable' }
  return { kind: 'waiting', expiresAt: approval.expires_at }
}

function store({ db, links }: AskOwnerOptions, question: Question): Promise<OwnerApproval | 'limited' | 'over'> {
  const { jti, organization_id: organizationId, pod_id, inbox_uid: inboxUid } = question.transaction
  return db.transaction(async (tx) => {
    if (!(await holdScopes(tx, [inboxUid, pod_id, organizationId]))) return 'over'
    await lockOwnerMails(tx, organizationId)
    // Another request may have asked before the lock was had.
    const asked = await findApproval(tx, jti)
    if (asked !== undefined) return asked
    if (!(await awaitOwner(tx, jti))) return 'over'
    const mailId = randomUUID()
    if (!(await countOwnerMail(tx, mailId, organizationId))) return 'limited'
    const hashes = { tokenHash: links.hashOf(mailId), ownerHash: ownerHashOf(question.owner) }
    return insertApproval(tx, { jti, organizationId, inboxUid, mailId, ...hashes })
  })
}

/** @returns false when there is no verified human, or another one by now. */
async function mail({ db, gateway, links }: AskOwnerOptions, question: Question, id: string): Promise<boolean> {
  const { transaction, client, owner } = question
  const { jti, address, organization_id, scopes } = transaction
  const text = ownerMail({ client, address, jti, owner, scopes, link: links.linkOf(id) })
  const { mailed } = await gateway.call('gateway.mailHuman', { id, organization_id, owner_id: owner.id, ...text })
  if (mailed) await noteMailed(db, jti)
  return mailed
}
