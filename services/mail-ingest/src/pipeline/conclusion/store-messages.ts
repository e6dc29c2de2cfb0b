import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import type { EncodedEvent, Outbox } from '@restante/messaging'
import { candidateIds, makeMessageId, parseHeadersOnly } from '@restante/mime'
import type { Tx } from '@restante/service/database'
import { deletedAmong } from '@restante/tenancy'
import type { MailContent } from '../../content/mail-content.ts'
import { InboxLists } from '../../lists/inbox-lists.ts'
import { insertLabelRecords, type LabelRecord, labelEvent } from '../../mailbox/label-log.ts'
import { lockMailboxes } from '../../mailbox/lock.ts'
import { receivedEvent } from '../../mailbox/received-event.ts'
import type { BodyColumns, MessageRow, MessageWithBody, ThreadRow } from '../../mailbox/rows/rows.ts'
import { uuidV7 } from '../../mailbox/rows/uuid-v7.ts'
import { storedEvent } from '../../mailbox/stored-event.ts'
import { isAuthenticated, type SenderVerdict } from '../../sender/authenticate-sender.ts'
import { isDuplicate, mailDigest, messagesWithDigests, type StoredMail } from '../../threading/duplicates.ts'
import { extendThreads, firstLabels, saveWithThreads } from '../../threading/extend-threads.ts'
import { ThreadFinder } from '../../threading/thread-finder.ts'
import type { ExaminedMail, StorableMail } from '../examination/examine-mail.ts'
import type { SpamVerdict } from '../examination/score-spam.ts'
import type { LeasedMail } from '../queue/queue.ts'
import { mergedHeaders } from './merged-headers.ts'
import { traceLines } from './trace-lines.ts'

type MailToStore = ExaminedMail<StorableMail>

/** The outcome of a mail for a mailbox, and the events of its message. */
export type Outcome =
  | {
      readonly outcome: 'stored'
      readonly messageId: string
      readonly threadId: string
      readonly labels: readonly string[]
      readonly events: readonly EncodedEvent[]
    }
  | { readonly outcome: 'duplicate' | 'inbox_deleted'; readonly events: readonly [] }

interface StoreOptions {
  readonly outbox: Outbox
  readonly hostname: string
}

/** The outcomes of mails, and the statements that store them, which run. */
interface Stored {
  readonly outcomes: ReadonlyMap<LeasedMail, Outcome>
  readonly saved: Promise<unknown>
}

/**
 * Stores mails in their mailboxes, in the given order and under the locks of the mailboxes: message, thread and label
 * log. A mail that is stored already, or whose inbox is deleted, is skipped. The caller records the events, and waits
 * for `saved` together with its own statements.
 */
export async function storeMessages(tx: Tx, mails: readonly MailToStore[], options: StoreOptions): Promise<Stored> {
  const outcomes = new Map<LeasedMail, Outcome>()
  if (mails.length === 0) return { outcomes, saved: Promise.resolve() }
  const inboxes = [...new Set(mails.map(({ verdict }) => verdict.inbox.inbox_uid))]
  const rows = mails.map((of) => ({ of, message: messageRow(of, options.hostname), named: namedBy(of) }))
  const messages = rows.map(({ message }) => message)
  const [, deleted, known, finder, lists] = await Promise.all([
    lockMailboxes(tx, inboxes),
    deletedAmong(tx, inboxes),
    messagesWithDigests(tx, messages),
    ThreadFinder.of(tx, rows),
    InboxLists.of(
      tx,
      mails.map(({ verdict }) => verdict),
    ),
  ])
  // Mails stored here are added, so that later ones are compared with them, too.
  const stored: StoredMail[] = [...known]
  const added: (MessageWithBody & { readonly of: MailToStore })[] = []
  for (const { of, message } of rows) {
    const arrived = await listed(message, of, { lists, finder })
    if (deleted.has(arrived.inbox_uid)) outcomes.set(of.mail, { outcome: 'inbox_deleted', events: [] })
    else if (isDuplicate(arrived, stored)) outcomes.set(of.mail, { outcome: 'duplicate', events: [] })
    else {
      const message = withFreeId(await finder.place(arrived), finder.isTaken(arrived) || of.verdict.idInDoubt)
      stored.push(message)
      finder.add(message)
      added.push({ of, message, body: bodyColumns(of.verdict.content, message.trace) })
    }
  }
  if (added.length === 0) return { outcomes, saved: Promise.resolve() }
  const newThreads = new Set(messages.map(({ thread_id }) => thread_id))
  const threads = await extendThreads(tx, added, (id) => newThreads.has(id))
  const labels = added.map(({ message }) => firstLabels(message))
  for (const [index, { of, message, body }] of added.entries()) {
    const thread = threads[index]
    if (thread === undefined) throw new Error('a message has no thread')
    const { message_id: messageId, thread_id: threadId } = message
    const events = of.span.within(() =>
      encodeEvents(of, { message, body, thread }, labels[index] ?? [], options.outbox),
    )
    outcomes.set(of.mail, { outcome: 'stored', messageId, threadId, labels: message.labels, events })
  }
  const saved = Promise.all([
    saveWithThreads(tx, added, threads),
    finder.save(tx),
    insertLabelRecords(tx, labels.flat()),
  ])
  // The caller may fail before it waits for them.
  saved.catch(() => {})
  return { outcomes, saved }
}

/** An entry arrived after the mail was examined: it is examined again, and the owner is asked. */
class ListsChangedError extends Error {
  override readonly name = 'ListsChangedError'
}

/**
 * A mail with the label `blocked` if a list blocks it (mail 12.4), before it joins a thread: both the projection, which may
 * know more by now, and the owner, which was asked before, have to say so.
 * @throws ListsChangedError when the owner was not asked.
 */
async function listed(
  message: MessageRow,
  { verdict }: MailToStore,
  { lists, finder }: { readonly lists: InboxLists; readonly finder: ThreadFinder },
): Promise<MessageRow> {
  const { confirmedLists: confirmed } = verdict
  const dependsOnDirection = lists.dependsOnDirection(verdict) || confirmed?.dependsOnDirection(verdict) === true
  const direction = dependsOnDirection && (await finder.isReply(message)) ? 'reply' : 'receive'
  if (!lists.isBlocked(verdict, direction)) return message
  if (confirmed === undefined) throw new ListsChangedError('the lists of the inbox have changed')
  if (!confirmed.isBlocked(verdict, direction)) return message
  const labels = [...message.labels, 'blocked']
  return { ...message, labels, arrival_labels: labels }
}

function encodeEvents(
  of: MailToStore,
  { message, body, thread }: MessageWithBody & { readonly thread: ThreadRow },
  labels: readonly LabelRecord[],
  outbox: Outbox,
): EncodedEvent[] {
  return [
    ...outbox.encode(topics['mail.messages'], [
      storedEvent(message, thread),
      receivedEvent(message, body, thread),
      ...labels.map(labelEvent),
    ]),
    ...outbox.encode(topics['mail.inbound'], [processedEvent(of, message)]),
  ]
}

/** The ids that the reply headers of a mail name, best first. */
function namedBy({ verdict: { content } }: MailToStore): string[] {
  return candidateIds(content.answeredIds, content.references)
}

/** The event for operators about a mail that is stored in its mailbox. */
function processedEvent({ mail, verdict: { sender, spam, content } }: MailToStore, message: MessageRow) {
  const { organization_id, pod_id, inbox_uid, created_at: time } = message
  const payload = {
    organization_id,
    pod_id,
    inbox_uid,
    inbound_id: mail.id,
    message_id: message.message_id,
    thread_id: message.thread_id,
    labels: [...message.labels],
    authentication: sender.authentication.verdict,
    spam_score: spam.score,
    parsed: content.parsed,
    attempts: mail.attempts,
    size: message.size,
    latency_ms: Math.max(0, time.getTime() - mail.receivedAt.getTime()),
  }
  return topics['mail.inbound'].event('mail.processed', payload, { time })
}

/**
 * A mail whose id is taken, by another message or possibly by a sent one that is not stored yet, is stored under a
 * generated id; its own header stays as it is (mail 2).
 */
function withFreeId(message: MessageRow, isTaken: boolean): MessageRow {
  if (!isTaken) return message
  const { inbox_address } = message
  return { ...message, message_id: makeMessageId(inbox_address.slice(inbox_address.lastIndexOf('@') + 1)) }
}

/** The row of a mail: with the id of its header, in a new thread. */
function messageRow({ mail, verdict: { inbox, content, sender, spam } }: MailToStore, hostname: string): MessageRow {
  const { address: inbox_address, ...scope } = inbox
  const now = new Date()
  const trace = traceLines(mail, hostname, sender.trace)
  const labels = labelsOf(sender, spam)
  const senderAddress = content.author?.toLowerCase() ?? ''
  const { date, messageId: headerId } = content
  return {
    id: uuidV7(),
    ...scope,
    inbox_address,
    thread_id: randomUUID(),
    message_id: headerId,
    header_id: headerId,
    direction: 'received',
    labels,
    arrival_labels: labels,
    timestamp: date !== undefined && date <= mail.receivedAt ? date : mail.receivedAt,
    sender: content.from,
    sender_address: senderAddress,
    to: content.to,
    cc: content.cc,
    bcc: content.bcc,
    reply_to: content.replyTo,
    recipients: [...content.to, ...content.cc, ...content.bcc].join('\n'),
    subject: content.subject,
    preview: content.preview,
    in_reply_to: content.inReplyTo,
    references: content.references,
    attachments: content.attachments,
    size: Buffer.byteLength(trace) + mail.size,
    blob: mail.blob,
    trace,
    digest: mailDigest({ headerId, sender: content.from, senderAddress, content: content.digest }),
    authentication: sender.authentication,
    handed_over_at: null,
    settled_at: null,
    delayed_at: null,
    opened_at: null,
    calendar_event_id: null,
    created_at: now,
    updated_at: now,
  }
}

function labelsOf(sender: SenderVerdict, spam: SpamVerdict): string[] {
  return ['received', 'unread', ...(spam.spam ? ['spam'] : []), ...(isAuthenticated(sender) ? [] : ['unauthenticated'])]
}

function bodyColumns(content: MailContent, trace: string): BodyColumns {
  const { headers } = parseHeadersOnly(Buffer.from(`${trace}\r\n`))
  return {
    text: content.text,
    html: content.html,
    extracted_text: content.extractedText,
    extracted_html: content.extractedHtml,
    search_text: content.searchText,
    headers: mergedHeaders(headers, content.headers),
  }
}
