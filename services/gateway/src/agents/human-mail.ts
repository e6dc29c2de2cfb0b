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
 * Mails the human of an organization, if a code or the operator has confirmed the address; the human that an unverified
 * agent has named must not get mail that it did not ask for. Where the caller names a human, nobody else is mailed. A
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
