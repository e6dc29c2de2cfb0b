import { BlobNotFoundError, type BlobStore } from '@restante/blobs'
import type { SentCopy } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { bareAddress, type OpenImage, ParserCrashedError, type ParserPool, ParserTimeoutError } from '@restante/mime'
import { Batcher, ByteSemaphore } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import { contentOf, type MailContent, unparsedContent } from '../content/mail-content.ts'
import { parsed } from '../content/read-mail.ts'
import type { RecipientLookup } from '../inbound/recipients.ts'
import { lockMailbox } from '../mailbox/lock.ts'
import type { BodyColumns, MessageRow } from '../mailbox/rows.ts'
import { uuidV7 } from '../mailbox/uuid-v7.ts'
import { ROW_BYTES, readBlob, rowNameOf, withRawMail } from '../raw/bytes.ts'
import { copiesOf, type RawMailUse, rawMails } from '../raw/store.ts'
import { mailDigest } from '../threading/duplicates.ts'
import { announceStored, extendThreads, saveWithThreads } from '../threading/extend-threads.ts'
import { applyDeliveryEvent } from './apply-delivery-event.ts'
import { inMailboxes, type MailboxEffect } from './effects/mailbox-effects.ts'
import { isUnwanted, pendingDeliveryEvents } from './store.ts'

export interface PlacementOptions {
  readonly db: Database
  readonly blobs: BlobStore
  readonly parser: ParserPool
  readonly outbox: Outbox
  /** Determines which inboxes exist. */
  readonly recipients: Pick<RecipientLookup, 'ask'>
  /** Left out of what is read: the sender is no recipient whose reading counts. */
  readonly openImage: OpenImage
}

/** Most copies in one transaction, and how many transactions at a time: a locked mailbox delays only its own. */
const TOGETHER = { maxItems: 25, concurrency: 3 }

/**
 * Stores the copies of sent messages in their mailboxes, once each, whether the call of mail-send or its event arrives
 * first. A copy is not stored again after it, or its inbox, was deleted.
 */
export class SentPlacement {
  readonly #options: PlacementOptions
  /**
   * Separate from the limit of the pipeline, which may be used up by an answer that waits for the copy of what it
   * answers.
   */
  readonly #memory = new ByteSemaphore({ bytes: LIMITS.inbound.bytes })

  /** Copies that are placed at the same time share a transaction. */
  readonly #placements: Batcher<MailboxEffect, undefined>

  constructor(options: PlacementOptions) {
    this.#options = options
    this.#placements = new Batcher({ ...TOGETHER, work: (effects) => this.#placeAll(effects) })
  }

  /** Places a copy now. When this resolves, readers see the copy. */
  async place(copy: SentCopy): Promise<void> {
    const effect = await this.prepare(copy)
    if (effect) await this.#placements.add({ inboxUid: copy.inbox_uid, effect })
  }

  async #placeAll(effects: readonly MailboxEffect[]): Promise<undefined[]> {
    await this.#options.db.transaction((tx) => inMailboxes(tx, effects))
    return effects.map(() => undefined)
  }

  /**
   * Prepares a placement, as far as it needs the raw mail: reads the mail, and copies a large one to a blob of the
   * mailbox.
   * @returns the effect for a transaction; undefined when the copy is stored already, or must not be stored (again).
   */
  async prepare(copy: SentCopy): Promise<((tx: Tx) => Promise<void>) | undefined> {
    const { db, blobs, parser } = this.#options
    const { inbox_uid, message_id } = copy
    if (await isUnwanted(db, inbox_uid, message_id)) return undefined
    const id = uuidV7()
    const inRow = copy.blob.size <= ROW_BYTES
    const blob = inRow ? rowNameOf(id) : `${copiesOf(inbox_uid)}${id}`
    const read = async () =>
      withRawMail(await readBlob(blobs, copy.blob.name), async (raw) => ({
        content: await readContent(raw, parser),
        use: { blob, refs: 1, size: raw.length, ...(inRow && { content: raw }) },
      }))
    try {
      const [{ content, use }] = await Promise.all([
        this.#memory.within(copy.blob.size, read),
        inRow ? undefined : rawMails.reserve(db, [blob]).then(() => blobs.copy(copy.blob.name, blob)),
      ])
      return (tx) => this.#store(tx, messageRow(copy, content, id, blob), this.#bodyColumns(copy, content), use)
    } catch (error) {
      // A remaining reservation is swept later.
      if (error instanceof BlobNotFoundError && (await this.#isGone(copy))) return undefined
      throw error
    }
  }

  /**
   * Whether the inbox of a copy is deleted. mail-send deletes the bytes with the last delivery of such an inbox,
   * perhaps before this service has consumed the deletion.
   */
  async #isGone({ from, inbox_uid }: SentCopy): Promise<boolean> {
    const answer = await this.#options.recipients.ask(bareAddress(from))
    return answer.status === 'unknown' || answer.inbox_uid !== inbox_uid
  }

  /**
   * The extracted texts are the words of the caller, where mail-send could send them; otherwise they come from the parser
   * (mail 8.3).
   */
  #bodyColumns(copy: SentCopy, content: MailContent): BodyColumns {
    const shown = (html: string | null) => (html === null ? null : this.#options.openImage.removeFrom(html))
    return {
      text: content.text,
      html: shown(content.html),
      extracted_text: content.text === null ? null : (copy.extracted_text ?? content.extractedText),
      extracted_html: content.html === null ? null : (copy.extracted_html ?? shown(content.extractedHtml)),
      search_text: content.searchText,
      headers: content.headers,
    }
  }

  async #store(tx: Tx, message: MessageRow, body: BodyColumns, use: RawMailUse): Promise<void> {
    const { outbox } = this.#options
    const { inbox_uid, message_id } = message
    const added = [{ message, body }]
    const [, unwanted, [thread]] = await Promise.all([
      lockMailbox(tx, inbox_uid),
      isUnwanted(tx, inbox_uid, message_id),
      extendThreads(tx, added, () => false),
    ])
    if (unwanted) return rawMails.abandon(tx, use)
    if (thread === undefined) throw new Error('a message has no thread')
    const [early] = await Promise.all([
      pendingDeliveryEvents.take(tx, inbox_uid, message_id),
      rawMails.hold(tx, [use]),
      saveWithThreads(tx, added, [thread]),
      announceStored(tx, outbox, message, thread),
    ])
    for (const event of early) await applyDeliveryEvent(tx, outbox, event)
  }
}

/** A copy is placed whatever its content. If it cannot be parsed, it has at least its headers. */
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
    opened_at: null,
    calendar_event_id: null,
    created_at: now,
    updated_at: now,
  }
}
