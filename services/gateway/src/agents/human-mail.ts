import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { type ServiceClient, UpstreamRejectedError } from '@restante/service/http'
import type { Secrets } from '../credentials/secrets.ts'
import type { Db } from '../storage/database.ts'
import { mailboxOf } from './codes.ts'

export interface HumanMailOptions {
  readonly db: Db
  readonly secrets: Secrets
  readonly mailSend: ServiceClient<'gateway'>
}

/**
 * Mails the human of an organization, if a code or the operator has confirmed the address: an unverified agent can name
 * anybody, who must not get mail for it. With `owner_id` the mail is for this human, and is not sent to another one. A
 * repeated id is the same mail.
 */
export async function mailHuman(
  { db, secrets, mailSend }: HumanMailOptions,
  { id, organization_id, owner_id, subject, text }: InternalRequestOf<'gateway.mailHuman'>,
): Promise<InternalResponseOf<'gateway.mailHuman'>> {
  const organization = await db.orm.organization.findUnique({
    where: { id: organization_id, deletingAt: null },
    select: { humanEmail: true, authenticationType: true },
  })
  const isVerified = organization !== null && organization.authenticationType !== 'agent_unverified'
  if (!isVerified || organization.humanEmail === null) return { mailed: false }
  const { humanEmail: to } = organization
  if (owner_id !== undefined && owner_id !== secrets.humanId(mailboxOf(to))) return { mailed: false }
  try {
    await mailSend.call('mail-send.sendSystemMail', { id, to, subject, text })
    return { mailed: true }
  } catch (error) {
    // The address cannot be mailed. Other rejections have internal causes, and the caller repeats the call.
    if (error instanceof UpstreamRejectedError && error.status === 400) return { mailed: false }
    throw error
  }
}
