import { BlobNotFoundError, type BlobStore } from '@restante/blobs'
import type { SentCopy } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { bareAddress, ParserCrashedError, type ParserPool, ParserTimeoutError } from '@restante/mime'
import { ByteSemaphore } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import { findTombstone } from '@restante/tenancy'
import { contentOf, type MailContent, unparsedContent } from '../content/mail-content.ts'
import { parsed } from '../content/read-mail.ts'
import type { RecipientLookup } from '../inbound/recipients.ts'
import { lockMailbox } from '../mailbox/lock.ts'
import type { BodyColumns, MessageRow } from '../mailbox/rows.ts'
import { store } from '../mailbox/store.ts'
import { uuidV7 } from '../mailbox/uuid-v7.ts'
import { readRawMail, withRawMail } from '../raw/read.ts'
import { copiesOf, rawMails } from '../raw/store.ts'
import { mailDigest } from '../threading/duplicates.ts'
import { extendThreads, logFirstLabels, saveWithThreads } from '../threading/extend-threads.ts'
import { applyDeliveryEvent } from './apply-delivery-event.ts'
import { pendingDeliveryEvents, tombstones } from './store.ts'

export interface PlacementOptions {
  readonly db: Database
  readonly blobs: BlobStore
  readonly parser: ParserPool
  readonly outbox: Outbox
  /** Determines which inboxes exist. */
  readonly recipients: Pick<RecipientLookup, 'ask'>
}

/**
 * Stores the copies of sent messages in their mailboxes, once each, whether mail-send's call or its event arrives
 * first. Not after the copy was deleted, nor after its inbox was.
 */
export class SentPlacement {
  readonly #options: PlacementOptions
  /** Not the pipeline's limit, which may be fully used while a copy is placed that an answer refers to. */
  readonly #memory = new ByteSemaphore({ bytes: LIMITS.inbound.bytes })

  constructor(options: PlacementOptions) {
    this.#options = options
  }

  /** InboxSlots a copy now; when it resolves, readers see it. */
  async place(copy: SentCopy): Promise<void> {
    const effect = await this.prepare(copy)
    if (effect) await this.#options.db.transaction(effect)
  }

  /**
   * The part that needs the raw mail: reads it, and copies it to a blob of the mailbox.
   * @returns what is to be done in a transaction; nothing when the copy is stored, or must not be (again).
   */
  async prepare(copy: SentCopy): Promise<((tx: Tx) => Promise<void>) | undefined> {
    const { db, blobs, parser } = this.#options
    const { inbox_uid, message_id } = copy
    if (await store.message(db, inbox_uid, message_id)) return undefined
    if (await tombstones.has(db, inbox_uid, message_id)) return undefined
    if (await findTombstone(db, inbox_uid)) return undefined
    const id = uuidV7()
    const blob = `${copiesOf(inbox_uid)}${id}`
    const read = async () => withRawMail(await readRawMail(blobs, copy.blob.name), (raw) => readContent(raw, parser))
    try {
      const [content] = await Promise.all([
        this.#memory.within(copy.blob.size, read),
        rawMails.reserve(db, [blob]).then(() => blobs.copy(copy.blob.name, blob)),
      ])
      return (tx) => this.#store(tx, messageRow(copy, content, id, blob), bodyColumns(copy, content))
    } catch (error) {
      // A remaining reservation is swept later.
      if (error instanceof BlobNotFoundError && (await this.#isGone(copy))) return undefined
      throw error
    }
  }

  /**
   * The bytes of a deleted inbox's mail are deleted with its last delivery, whether or not its end is known here yet.
   */
  async #isGone({ from, inbox_uid }: SentCopy): Promise<boolean> {
    const answer = await this.#options.recipients.ask(bareAddress(from))
    return answer.status === 'unknown' || answer.inbox_uid !== inbox_uid
  }

  async #store(tx: Tx, message: MessageRow, body: BodyColumns): Promise<void> {
    const { outbox } = this.#options
    const { inbox_uid, message_id } = message
    await lockMailbox(tx, inbox_uid)
    if (await isUnwanted(tx, inbox_uid, message_id)) return rawMails.abandon(tx, message.blob, message.size)
    await rawMails.hold(tx, [{ blob: message.blob, refs: 1, size: message.size }])
    const added = [{ message, body }]
    await saveWithThreads(tx, added, await extendThreads(tx, added, () => false))
    await logFirstLabels(tx, outbox, message)
    for (const event of await pendingDeliveryEvents.take(tx, inbox_uid, message_id))
      await applyDeliveryEvent(tx, outbox, event)
  }
}

/** Whether a copy is stored already, or must not be stored (again). */
async function isUnwanted(tx: Tx, inboxUid: string, messageId: string): Promise<boolean> {
  if (await findTombstone(tx, inboxUid)) return true
  if (await store.message(tx, inboxUid, messageId)) return true
  return tombstones.has(tx, inboxUid, messageId)
}

/** A copy is placed whatever its content: if it cannot be parsed, with its headers at least. */
async function readContent(raw: Buffer, parser: ParserPool): Promise<MailContent> {
  try {
    return contentOf(await parsed(parser.read(raw, { priority: true })), raw)
  } catch (error) {
    if (error instanceof ParserCrashedError || error instanceof ParserTimeoutError) return unparsedContent(raw)
    throw error
  }
}

function messageRow(copy: SentCopy, content: MailContent, id: string, blob: string): MessageRow {
  const now = new Date()
  const { to, cc = [], bcc = [], message_id: headerId, from: sender } = copy
  const senderAddress = bareAddress(sender).toLowerCase()
  const labels = ['sent', ...copy.labels.filter((label) => label !== 'sent')]
  return {
    id,
    organization_id: copy.organization_id,
    pod_id: copy.pod_id,
    inbox_uid: copy.inbox_uid,
    inbox_address: senderAddress,
    thread_id: copy.thread_id,
    message_id: headerId,
    header_id: headerId,
    direction: 'sent',
    labels,
    arrival_labels: labels,
    timestamp: new Date(copy.timestamp),
    sender,
    sender_address: senderAddress,
    to,
    cc,
    bcc,
    reply_to: copy.reply_to ?? [],
    recipients: [...to, ...cc, ...bcc].join('\n'),
    subject: copy.subject ?? null,
    preview: content.preview,
    in_reply_to: copy.in_reply_to ?? null,
    references: copy.references ?? [],
    attachments: content.attachments,
    size: copy.blob.size,
    blob,
    trace: '',
    digest: mailDigest({ headerId, sender, senderAddress, content: content.digest }),
    authentication: null,
    handed_over_at: null,
    settled_at: null,
    delayed_at: null,
    created_at: now,
    updated_at: now,
  }
}

/** The extracted texts are the caller's own words, as far as mail-send could send them (mail 8.3). */
function bodyColumns(copy: SentCopy, content: MailContent): BodyColumns {
  return {
    text: content.text,
    html: content.html,
    extracted_text: content.text === null ? null : (copy.extracted_text ?? content.extractedText),
    extracted_html: content.html === null ? null : (copy.extracted_html ?? content.extractedHtml),
    headers: content.headers,
  }
}
