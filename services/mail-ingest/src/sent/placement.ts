import { BlobNotFoundError, type BlobStore } from '@restante/blobs'
import type { SentCopy } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { bareAddress, type OpenImage, ParserCrashedError, type ParserPool, ParserTimeoutError } from '@restante/mime'
import { Batcher, ByteSemaphore } from '@restante/service/concurrency'
import type { Database, Queryable, Tx } from '@restante/service/database'
import { contentOf, type MailContent, unparsedContent } from '../content/mail-content.ts'
import { parsed } from '../content/read-mail.ts'
import type { RecipientLookup } from '../inbound/recipients.ts'
import { lockMailboxes } from '../mailbox/lock.ts'
import type { BodyColumns, MessageRow } from '../mailbox/rows/rows.ts'
import { uuidV7 } from '../mailbox/rows/uuid-v7.ts'
import { ROW_BYTES, readBlob, rowNameOf, withRawMail } from '../raw/bytes.ts'
import { copiesOf, type RawMailUse, rawMails } from '../raw/store.ts'
import { withoutEarlierLabels } from '../take-overs/earlier-labels.ts'
import { mailDigest } from '../threading/duplicates.ts'
import { announceStored, extendThreads, saveWithThreads } from '../threading/extend-threads.ts'
import { applyDeliveryEvents } from './apply-delivery-events.ts'
import { keyOf, pendingDeliveryEvents, type SentReference, tombstones, unwantedAmong } from './store.ts'

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

/** A copy that is read, and can be stored. */
export interface PreparedCopy {
  readonly message: MessageRow
  readonly body: BodyColumns
  readonly use: RawMailUse
  /** Number of take-overs of the organization when the message was asked for (identity 5.1); undefined: not known. */
  readonly takeOvers: number | undefined
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

  /** Whether copies are unwanted. */
  readonly #checks: Batcher<SentCopy, boolean>
  /** Copies that are placed at the same time share a transaction. */
  readonly #placements: Batcher<PreparedCopy, undefined>

  constructor(options: PlacementOptions) {
    this.#options = options
    this.#checks = new Batcher({ ...TOGETHER, work: (copies) => this.#areUnwanted(copies) })
    this.#placements = new Batcher({ ...TOGETHER, work: (copies) => this.#placeAll(copies) })
  }

  /** Places a copy now. When this resolves, readers see the copy. */
  async place(copy: SentCopy): Promise<void> {
    const prepared = await this.prepare(copy)
    if (prepared) await this.#placements.add(prepared)
  }

  async #placeAll(copies: readonly PreparedCopy[]): Promise<undefined[]> {
    await this.#options.db.transaction((tx) => this.store(tx, copies))
    return copies.map(() => undefined)
  }

  async #areUnwanted(copies: readonly SentCopy[]): Promise<boolean[]> {
    const unwanted = new Set((await turnedAway(this.#options.db, copies)).map(keyOf))
    return copies.map((copy) => unwanted.has(keyOf(copy)))
  }

  /**
   * Prepares a placement, as far as it needs the raw mail: reads the mail, and copies a large one to a blob of the
   * mailbox.
   * @returns what can be stored; undefined when the copy is stored already, or must not be stored (again).
   */
  async prepare(copy: SentCopy): Promise<PreparedCopy | undefined> {
    const { db, blobs, parser } = this.#options
    const { inbox_uid } = copy
    if (await this.#checks.add(copy)) return undefined
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
      const message = messageRow(copy, content, id, blob)
      return { message, body: this.#bodyColumns(copy, content), use, takeOvers: copy.take_overs }
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

  /** Stores prepared copies in their order, under the locks of their mailboxes, without those that are unwanted by now. */
  async store(tx: Tx, copies: readonly PreparedCopy[]): Promise<void> {
    if (copies.length === 0) return
    const { outbox } = this.#options
    const all = copies.map(({ message }) => message)
    const [, unwanted] = await Promise.all([
      lockMailboxes(
        tx,
        all.map(({ inbox_uid }) => inbox_uid),
      ),
      turnedAway(tx, all),
    ])
    const { added: wanted, abandoned } = sorted(copies, unwanted)
    await Promise.all(abandoned.map(({ use }) => rawMails.abandon(tx, use)))
    if (wanted.length === 0) return
    const added = await withoutEarlierLabels(tx, wanted)
    const messages = added.map(({ message }) => message)
    const threads = await extendThreads(tx, added, () => false)
    const [early] = await Promise.all([
      pendingDeliveryEvents.take(tx, messages),
      rawMails.hold(
        tx,
        added.map(({ use }) => use),
      ),
      saveWithThreads(tx, added, threads),
      announceStored(tx, outbox, added, threads),
    ])
    await applyDeliveryEvents(tx, outbox, early)
  }
}

/** Those of some copies that are unwanted. What was sent into a thread that is deleted counts as deleted with it. */
async function turnedAway(on: Queryable, copies: Parameters<typeof unwantedAmong>[1]): Promise<SentReference[]> {
  const unwanted = await unwantedAmong(on, copies)
  const deleted = unwanted.filter(({ of_deleted_thread }) => of_deleted_thread)
  await tombstones.add(on, deleted, new Date())
  return unwanted
}

/** Of copies of the same message, which two callers have brought, the first is added. */
function sorted(copies: readonly PreparedCopy[], unwanted: readonly SentReference[]) {
  const taken = new Set(unwanted.map(keyOf))
  const [added, abandoned]: [PreparedCopy[], PreparedCopy[]] = [[], []]
  for (const copy of copies) {
    const key = keyOf(copy.message)
    if (taken.has(key)) abandoned.push(copy)
    else added.push(copy)
    taken.add(key)
  }
  return { added, abandoned }
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
