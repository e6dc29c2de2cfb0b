import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { InternalResponseOf } from '@restante/contracts/internal'
import type { SentCopy } from '@restante/contracts/schemas'
import { type Address, listNames, normalizeAddress, parseAddress } from '@restante/mime'
import { type Database, sql } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import type { SendingDomain, SendingDomains } from '../domains/sending-domains.ts'
import { listEntries } from '../lists/store.ts'
import type { Acceptance, Terms } from '../sending/acceptance/acceptance.ts'
import type { Quotas } from '../sending/acceptance/quotas.ts'
import { recipientsBlocked, refusedRecipients, suspended } from '../sending/checks/refusals.ts'
import type { AnsweredMessage } from '../sending/content/message.ts'
import { readSource } from '../sending/content/source.ts'
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
type Sender = Caller & { readonly inbox: CallerInbox }

const FIND = sql<{ message_id: string; thread_id: string }, [inboxUid: string, messageId: string]>(
  'select message_id, thread_id from sends where inbox_uid = $1 and message_id = $2 and thread_id is not null',
)
/** Placing the copy lets the caller read its own write; the event does the same a moment later. */
const PLACE_MS = 500

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
      await this.#place(copy)
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

  /** The inbox itself: nobody's key sends what was asked for earlier. */
  async #senderOf(inboxUid: string): Promise<Sender | undefined> {
    const { sender } = await this.#options.gateway.call('gateway.getSendingInbox', { inbox_uid: inboxUid })
    if (!sender) return undefined
    const { take_overs: _, inbox, ...organization } = sender
    const credential = { id: inbox.uid, type: 'bearer', tier: 'inbox', app_connect: false, provisional: false } as const
    return { ...organization, pod_id: inbox.pod_id, inbox, credential }
  }

  /** @throws ApiError when it must not be sent. */
  async #accept(invitation: Invitation, sender: Sender, messageId: string): Promise<SentCopy> {
    const { acceptance, domains, quotas } = this.#options
    const { inbox, organization_id: organizationId } = sender
    requireSending(sender)
    const to = recipientOf(invitation, inbox)
    const address = normalizeAddress(to.address)
    const domain = await domains.of(inbox.address, organizationId, false)
    const dkim = await domain.dkim()
    await this.#checkLists(sender, address)
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

  async #checkLists({ organization_id, inbox, sending, credential }: Sender, address: string): Promise<void> {
    const scope = { organizationId: organization_id, podId: inbox.pod_id, uid: inbox.uid }
    const found = await listEntries.find(this.#options.db, 'send', scope, listNames(address))
    const refused = refusedRecipients([address], sending, found)
    if (refused.length > 0) throw recipientsBlocked(refused, { credential, inbox })
  }

  /** The mail that it belongs to; undefined when there is none, or it is deleted. */
  async #answered({ in_reply_to: id }: Invitation, sender: Sender): Promise<AnsweredMessage | undefined> {
    if (id === undefined) return undefined
    try {
      return await readSource(this.#options, sender, sender.inbox, id)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return undefined
      throw error
    }
  }

  async #place(copy: SentCopy): Promise<void> {
    const { mailIngest, log } = this.#options
    await mailIngest
      .call('mail-ingest.placeSent', copy, PLACE_MS)
      .catch((error: unknown) => log.warn({ err: error }, 'sent copy not placed synchronously, event will place it'))
  }
}

function termsOf({ organization_id, inbox }: Sender, domain: SendingDomain): Omit<Terms, 'recipients' | 'quota'> {
  return {
    organizationId: organization_id,
    podId: inbox.pod_id,
    inboxUid: inbox.uid,
    claim: undefined,
    returnPath: domain.returnPath,
    senderDomain: domain.name,
    also: undefined,
  }
}

/** @throws ApiError 403 for a paused inbox or a suspended organization. */
function requireSending({ inbox, sending }: Sender): void {
  if (inbox.paused) throw new ApiError('inbox_paused')
  if (sending === 'suspended') throw suspended()
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
