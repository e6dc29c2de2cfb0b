import type { CallerInbox } from '@restante/contracts/access'
import type { InternalResponseOf } from '@restante/contracts/internal'
import type { SentCopy } from '@restante/contracts/schemas'
import { type Address, normalizeAddress, parseAddress } from '@restante/mime'
import { type Database, sql } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import type { SendingDomain, SendingDomains } from '../domains/sending-domains.ts'
import type { Acceptance, Terms } from '../sending/acceptance/acceptance.ts'
import type { Quotas } from '../sending/acceptance/quotas.ts'
import { checkLists, type InboxCaller, inboxAsCaller, requireSending } from '../sending/checks/sending-inbox.ts'
import type { AnsweredMessage } from '../sending/content/message.ts'
import { readSource } from '../sending/content/source.ts'
import { placeCopy } from '../sending/copies/place.ts'
import { composeInvitation, type Invitation } from './compose.ts'

export interface InvitationMailOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'mail-send'>
  readonly mailIngest: ServiceClient<'mail-send'>
  readonly acceptance: Acceptance
  readonly quotas: Quotas
  readonly domains: SendingDomains
  readonly log: Logger
}

type Outcome = InternalResponseOf<'mail-send.sendInvitation'>

const FIND = sql<{ message_id: string; thread_id: string }, [inboxUid: string, messageId: string]>(
  'select message_id, thread_id from sends where inbox_uid = $1 and message_id = $2 and thread_id is not null',
)

/**
 * Sends mails about events as the inbox does: the same lists, suppressions and signatures. Limits of sends were applied when
 * the event was changed; a mail that is refused now is refused for good (calendar 14.1).
 */
export class InvitationMail {
  readonly #options: InvitationMailOptions

  constructor(options: InvitationMailOptions) {
    this.#options = options
  }

  /** Accepts the mail, durably; once per id, which tells its Message-ID, however often it is called. */
  async send(invitation: Invitation): Promise<Outcome> {
    const sender = await this.#senderOf(invitation.inbox_uid)
    if (!sender) return { outcome: 'refused', reason: 'inbox_deleted' }
    const { address } = sender.inbox
    const messageId = `<${invitation.id}@${address.slice(address.lastIndexOf('@') + 1)}>`
    const sent = await this.#find(invitation, messageId)
    if (sent) return sent
    try {
      const copy = await this.#accept(invitation, sender, messageId)
      await placeCopy(this.#options.mailIngest, copy, this.#options.log)
      return { outcome: 'sent', message_id: copy.message_id, thread_id: copy.thread_id }
    } catch (error) {
      // A call at the same time may have been faster.
      const other = await this.#find(invitation, messageId)
      if (other) return other
      if (error instanceof ApiError && error.status < 500) return { outcome: 'refused', reason: error.code }
      throw error
    }
  }

  async #find({ inbox_uid }: Invitation, messageId: string): Promise<Outcome | undefined> {
    const [found] = await this.#options.db.query(FIND, inbox_uid, messageId)
    return found && { outcome: 'sent', ...found }
  }

  async #senderOf(inboxUid: string): Promise<InboxCaller | undefined> {
    const { sender } = await this.#options.gateway.call('gateway.getSendingInbox', { inbox_uid: inboxUid })
    return sender && inboxAsCaller(sender)
  }

  /** @throws ApiError when it must not be sent. */
  async #accept(invitation: Invitation, sender: InboxCaller, messageId: string): Promise<SentCopy> {
    const { acceptance, domains, quotas } = this.#options
    const { inbox, organization_id: organizationId } = sender
    requireSending(sender)
    const to = recipientOf(invitation, inbox)
    const address = normalizeAddress(to.address)
    const domain = await domains.of(inbox.address, organizationId, false)
    const dkim = await domain.dkim()
    await checkLists(this.#options.db, sender, inbox, [address])
    const answered = await this.#answered(invitation, sender)
    const composed = await composeInvitation({
      invitation,
      inbox,
      to,
      answered,
      messageId,
      dkim,
      sharedDomain: domain.isShared,
    })
    return acceptance.accept(composed, {
      ...termsOf(sender, domain),
      recipients: [to.address],
      quota: quotas.ofCounted(sender, inbox, [address]),
    })
  }

  /** The mail that it belongs to; undefined when there is none, or it is deleted. */
  async #answered({ in_reply_to: id }: Invitation, sender: InboxCaller): Promise<AnsweredMessage | undefined> {
    if (id === undefined) return undefined
    try {
      return await readSource(this.#options, sender, sender.inbox, id)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return undefined
      throw error
    }
  }
}

function termsOf({ organization_id, inbox }: InboxCaller, domain: SendingDomain): Omit<Terms, 'recipients' | 'quota'> {
  return {
    organizationId: organization_id,
    podId: inbox.pod_id,
    inboxUid: inbox.uid,
    claim: undefined,
    returnPath: domain.returnPath,
    senderDomain: domain.name,
    takeOvers: undefined,
    also: undefined,
  }
}

/** @throws ApiError when the address cannot be mailed, or is the inbox itself. */
function recipientOf({ to, to_name }: Invitation, inbox: CallerInbox): Address {
  const parsed = parseAddress(to)
  if (!parsed.ok || normalizeAddress(parsed.address.address) === normalizeAddress(inbox.address)) {
    throw new ApiError('message_rejected')
  }
  const name = to_name?.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  return { address: parsed.address.address, ...(name !== undefined && name !== '' && { name }) }
}
