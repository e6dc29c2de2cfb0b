import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { ForwardBody, ReplyAllBody, ReplyBody, SendBody, SendDraftBody } from '@restante/contracts/operations'
import type { SentMessage } from '@restante/contracts/resources'
import type { SentCopy } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type DkimKeys, normalizeAddress, type OpenImage, type OutgoingAttachment } from '@restante/mime'
import type { Database, Tx } from '@restante/service/database'
import { BodyMemoryLimiter, type ServiceClient, type YieldSlot } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import type { SendingDomain, SendingDomains } from '../domains/sending-domains.ts'
import type { StoredFile } from '../files/store.ts'
import type { Acceptance, Terms } from './acceptance/acceptance.ts'
import {
  type Claim,
  claimKey,
  fingerprint,
  keepKey,
  releaseKey,
  UnknownOutcomeError,
} from './acceptance/idempotency.ts'
import type { Quotas } from './acceptance/quotas.ts'
import {
  answerRecipients,
  type GivenAddresses,
  type Recipients,
  readAddresses,
  uniqueAddresses,
} from './checks/recipients.ts'
import { noRecipients, tooManyRecipients, trackingNeedsHtml, trackingNotPossible } from './checks/refusals.ts'
import { checkLists, requireSending } from './checks/sending-inbox.ts'
import { type AttachmentLoader, isRemote } from './content/attachments.ts'
import { type AnsweredMessage, type ComposedMessage, composeMessage } from './content/message.ts'
import { tooLargeToForward } from './content/rejections.ts'
import { readSource } from './content/source.ts'
import { placeCopy } from './copies/place.ts'

/** A message that is sent as it is given, by operation. */
export type MessageCommand =
  | { readonly kind: 'send'; readonly body: SendBody }
  | {
      readonly kind: 'reply'
      readonly messageId: string
      readonly body: ReplyBody
      /** Set for a draft: its recipients are those that it shows, even if it shows none. */
      readonly isAddressed?: true
    }
  | { readonly kind: 'reply_all'; readonly messageId: string; readonly body: ReplyAllBody }
  | { readonly kind: 'forward'; readonly messageId: string; readonly body: ForwardBody }

/** What a caller asks for. A draft is read only once its `Idempotency-Key` is known to be new (mail 9). */
export type SendCommand =
  | MessageCommand
  | {
      readonly kind: 'draft'
      readonly draftId: string
      readonly body: SendDraftBody
      /** @throws ApiError 404, 409 */
      readonly open: () => Promise<OpenedDraft>
    }

/** A draft that is sent now. */
export interface OpenedDraft {
  readonly message: MessageCommand
  readonly files: readonly StoredFile[]
  /** Number of take-overs of the organization when it was created: its labels are as old. */
  readonly takeOvers: number
  /** Ends the draft, in the transaction that accepts its message. @throws ApiError 404, 409 when it has changed since. */
  readonly end: (tx: Tx, sent: SentMessage) => Promise<void>
}

/** A message on its way: what was asked for, its parsed addresses, and the message that it answers or forwards. */
interface Outgoing {
  readonly command: MessageCommand
  readonly given: GivenAddresses
  readonly answered: AnsweredMessage | undefined
}

export interface SendRequest {
  readonly caller: Caller
  readonly inbox: CallerInbox
  readonly idempotencyKey: string | undefined
  readonly log: Logger
  /** The caller as of at most a second ago. @throws ApiError when the request would be refused by now. */
  readonly confirmCaller: () => Promise<Caller>
  /** Aborted when the caller has disconnected. */
  readonly signal: AbortSignal
  /** For fetching from servers that may be slow. */
  readonly yieldSlot: YieldSlot
}

export interface SenderOptions {
  readonly db: Database
  readonly acceptance: Acceptance
  readonly mailIngest: ServiceClient<'mail-send'>
  readonly attachments: AttachmentLoader
  readonly domains: SendingDomains
  readonly quotas: Quotas
  /** For messages that tell of their opening. */
  readonly openImage: OpenImage
}

/** What a message is composed of beside what was asked for. */
interface Composition {
  readonly inbox: CallerInbox
  readonly domain: SendingDomain
  readonly dkim: DkimKeys | undefined
  readonly recipients: Recipients
  readonly attachments: readonly OutgoingAttachment[]
  /** Whether it tells of its opening. */
  readonly tracked: boolean
}

/** Accepts messages for delivery: every check in the order of mail 8.4, then one transaction that holds all of it. */
export class Sender {
  readonly #options: SenderOptions
  /**
   * Memory for fetched files, which may be five times the size of a request; while composing, they exist three times.
   */
  readonly #memory = new BodyMemoryLimiter({
    held: 1.5 * LIMITS.send.fetchedBytes,
    processing: LIMITS.send.fetchedBytes,
  })

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** @returns the ids of the new message, or with a known `Idempotency-Key` those of the first one. */
  async send(command: SendCommand, request: SendRequest): Promise<SentMessage> {
    if (command.kind !== 'draft')
      this.#options.attachments.requireRights(command.body.attachments ?? [], request.caller.credential)
    const { idempotencyKey: key, caller, inbox } = request
    if (key === undefined) return this.#work(command, request, undefined)
    // Addresses are part of the body, whose errors come before those of the key (mail 8.4).
    if (command.kind !== 'draft') readAddresses(command.body)
    const { db } = this.#options
    const use = {
      organizationId: caller.organization_id,
      inboxUid: inbox.uid,
      key,
      fingerprint: fingerprint(command.kind, inbox.uid, sourceOf(command), command.body),
      takeOvers: caller.take_overs ?? 0,
    }
    const result = await claimKey(db, use)
    if (result.kind === 'replay') return result.response
    const stopRenewal = keepKey(db, result.claim)
    try {
      return await this.#work(command, request, result.claim)
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) await this.#release(result.claim, request.log)
      throw error
    } finally {
      stopRenewal()
    }
  }

  async #release(claim: Claim, log: Logger): Promise<void> {
    // A key that cannot be released now is free when its lease ends.
    await releaseKey(this.#options.db, claim).catch((error: unknown) =>
      log.warn({ err: error }, 'idempotency key could not be released'),
    )
  }

  /** Steps 4 to 13 of mail 8.4. A refusal on the way leaves nothing. */
  async #work(command: SendCommand, request: SendRequest, claim: Claim | undefined): Promise<SentMessage> {
    const { caller, inbox } = request
    const {
      message,
      files = [],
      takeOvers = caller.take_overs ?? 0,
      end,
    }: Partial<OpenedDraft> & Pick<OpenedDraft, 'message'> = command.kind === 'draft'
      ? await command.open()
      : { message: command }
    const outgoing = await this.#outgoing(message, request)
    requireSending(caller)
    const recipients = recipientsOf(outgoing, inbox)
    const { track_opens: tracked = false, html } = outgoing.command.body
    const domain = await this.#options.domains.of(inbox.address, caller.organization_id, tracked)
    const dkim = await domain.dkim()
    if (tracked) requireTracking(domain, html)
    const envelope = uniqueAddresses(recipients)
    const addresses = [...envelope.keys()]
    await checkLists(this.#options.db, caller, inbox, addresses)
    const quota = this.#options.quotas.of(caller, inbox, addresses)
    await quota.check(this.#options.db)
    // Mail to itself would arrive as a message that the inbox already has (mail 8.5).
    envelope.delete(normalizeAddress(inbox.address))
    const terms: Terms = {
      organizationId: caller.organization_id,
      podId: inbox.pod_id,
      inboxUid: inbox.uid,
      recipients: [...envelope.values()].map(({ address }) => address),
      quota,
      claim,
      returnPath: domain.returnPath,
      senderDomain: domain.name,
      takeOvers,
      also: end,
    }
    const copy = await this.#memory.hold(caller.organization_id, async (count) => {
      const attachments = await this.#load(outgoing, files, request, count)
      const bytes = attachments.reduce((sum, { content }) => sum + content.length, 0)
      const accept = async (): Promise<SentCopy> => {
        const composed = await this.#compose(outgoing, { inbox, domain, dkim, recipients, attachments, tracked })
        // A caller that has disconnected retries: as long as this message is not accepted, that makes no second one.
        request.signal.throwIfAborted()
        await this.#checkRights(request, addresses)
        return this.#options.acceptance.accept(composed, terms)
      }
      return this.#memory.process(bytes, accept, request.signal)
    })
    await placeCopy(this.#options.mailIngest, copy, request.log)
    return { message_id: copy.message_id, thread_id: copy.thread_id }
  }

  async #outgoing(command: MessageCommand, { caller, inbox }: SendRequest): Promise<Outgoing> {
    const given = readAddresses(command.body)
    if (command.kind === 'send') return { command, given, answered: undefined }
    return { command, given, answered: await readSource(this.#options, caller, inbox, command.messageId) }
  }

  /** Fetching files and waiting for memory take time, in which the right to send may have been revoked. */
  async #checkRights({ caller, inbox, confirmCaller }: SendRequest, addresses: readonly string[]): Promise<void> {
    const current = await confirmCaller()
    requireSending(current)
    if (current.sending !== caller.sending) await checkLists(this.#options.db, current, inbox, addresses)
  }

  /** What is forwarded, what the draft has, and what the request gives. */
  async #load(
    { command, answered }: Outgoing,
    files: readonly StoredFile[],
    { caller, inbox, signal, yieldSlot }: SendRequest,
    count: (bytes: number) => void,
  ): Promise<OutgoingAttachment[]> {
    const { attachments: loader } = this.#options
    const given = command.body.attachments ?? []
    const forwarded = command.kind === 'forward' ? (answered?.attachments ?? []) : []
    const stored = [...forwarded, ...files].reduce((sum, { size }) => sum + size, 0)
    if (stored > LIMITS.send.fetchedBytes) throw tooLargeToForward()
    const request = { caller, inbox, signal, count }
    const source = {
      messageId: answered?.source.messageId ?? '',
      attachments: forwarded.map(({ attachment_id }) => attachment_id),
    }
    const load = async () => [
      ...(await loader.loadForwarded(source, request)),
      ...(await loader.read(files, request)),
      ...(await loader.load(given, request, LIMITS.send.fetchedBytes - stored)),
    ]
    return stored > 0 || forwarded.length > 0 || given.some(isRemote) ? yieldSlot(load) : load()
  }

  #compose(
    { command, given, answered }: Outgoing,
    { domain, tracked, ...ready }: Composition,
  ): Promise<ComposedMessage> {
    const { openImage } = this.#options
    return composeMessage({
      ...ready,
      body: command.body,
      replyTo: given.replyTo,
      answered,
      isForward: command.kind === 'forward',
      date: new Date(),
      sharedDomain: domain.isShared,
      ...(tracked && domain.trackingHost !== undefined && { tracking: { openImage, host: domain.trackingHost } }),
    })
  }
}

/** @throws ApiError 422 where the opening of a message cannot be told (mail 15.4). */
function requireTracking({ trackingHost }: SendingDomain, html: string | null | undefined): void {
  if (trackingHost === undefined) throw trackingNotPossible()
  if (html === undefined || html === null || html === '') throw trackingNeedsHtml()
}

function recipientsOf({ command, given, answered }: Outgoing, inbox: CallerInbox): Recipients {
  const isDerived = command.kind === 'reply_all' || (command.kind === 'reply' && !command.isAddressed)
  const recipients = isDerived && answered ? answerRecipients(command, given, answered.source, inbox.address) : given
  const count = recipients.to.length + recipients.cc.length + recipients.bcc.length
  if (count === 0) throw noRecipients()
  if (count > LIMITS.send.recipients) throw tooManyRecipients()
  return recipients
}

function sourceOf(command: SendCommand): string | undefined {
  if (command.kind === 'send') return undefined
  return command.kind === 'draft' ? command.draftId : command.messageId
}
