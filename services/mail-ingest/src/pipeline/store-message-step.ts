import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts'
import type { Outbox } from '@restante/messaging'
import { bareAddress, candidateIds, makeMessageId, parseHeadersOnly } from '@restante/mime'
import type { MailContent } from '../content/mail-content.ts'
import type { Db, Tx } from '../database.ts'
import type { InboxScope } from '../inbound/store.ts'
import { isDuplicate, type KnownMessage, messagesWithIds, threadOf } from '../mailbox/known-ids.ts'
import { deletedInbox, lockMailbox } from '../mailbox/lock.ts'
import { insertIntoThread, logFirstLabels } from '../mailbox/placement.ts'
import { receivedEvent } from '../mailbox/received-event.ts'
import type { BodyColumns, MessageRow } from '../mailbox/rows.ts'
import { uuidV7 } from '../mailbox/uuid-v7.ts'
import type { SenderVerdict } from './authenticate-sender-step.ts'
import { discardMail } from './discard-mail-step.ts'
import { mergedHeaders } from './headers.ts'
import { type LeasedMail, queue } from './queue.ts'
import type { SpamVerdict } from './score-spam-step.ts'
import { traceLines } from './trace.ts'

/** Everything that was found out about a mail. */
export interface JudgedMail {
  readonly mail: LeasedMail
  readonly inbox: InboxScope
  readonly content: MailContent
  readonly sender: SenderVerdict
  readonly spam: SpamVerdict
}

export type Outcome =
  | {
      readonly outcome: 'stored'
      readonly messageId: string
      readonly threadId: string
      readonly labels: readonly string[]
    }
  | { readonly outcome: 'duplicate' | 'inbox_deleted' }

export interface StoreOptions {
  readonly db: Db
  readonly outbox: Outbox
  readonly hostname: string
}

/**
 * Puts a mail into its mailbox: message, thread, label log, events and the end of its queue row in one transaction,
 * under the mailbox's lock. A mail that is there already, or whose inbox is gone, leaves nothing but the fact.
 */
export function storeMessage(judged: JudgedMail, options: StoreOptions): Promise<Outcome> {
  const { mail, inbox, content } = judged
  const candidates = candidateIds(content.inReplyTo ?? undefined, content.references)
  return options.db.transaction(async (tx) => {
    const discard = async (reason: 'duplicate' | 'inbox_deleted'): Promise<Outcome> => {
      await discardMail(tx, options.outbox, mail, inbox, reason)
      return { outcome: reason }
    }
    await lockMailbox(tx, inbox.inbox_uid)
    if (await deletedInbox(tx, inbox.inbox_uid)) return discard('inbox_deleted')
    const known = await messagesWithIds(tx, inbox.inbox_uid, [content.messageId, ...candidates])
    const message = messageRow(judged, options.hostname, known, threadOf(candidates, known) ?? randomUUID())
    if (isDuplicate(message, known)) return discard('duplicate')
    await queue.finish(tx, mail)
    await place(tx, options, judged, message)
    return { outcome: 'stored', messageId: message.message_id, threadId: message.thread_id, labels: message.labels }
  })
}

async function place(
  tx: Tx,
  { outbox, hostname }: StoreOptions,
  judged: JudgedMail,
  message: MessageRow,
): Promise<void> {
  const body = bodyColumns(judged.content, message.trace, hostname)
  const thread = await insertIntoThread(tx, message, body)
  await outbox.add(tx, topics['mail.messages'], receivedEvent(message, body, thread))
  await logFirstLabels(tx, outbox, message)
  const { mail, sender, spam, content } = judged
  const { organization_id, pod_id, inbox_uid, created_at: time } = message
  await outbox.add(tx, topics['mail.inbound'], {
    id: randomUUID(),
    type: 'mail.processed',
    subject: mail.id,
    key: inbox_uid,
    time,
    routing: { organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid },
    payload: {
      organization_id,
      pod_id,
      inbox_uid,
      inbound_id: mail.id,
      message_id: message.message_id,
      thread_id: message.thread_id,
      labels: [...message.labels],
      authentication: sender.authentication,
      spam_score: spam.score,
      parsed: content.parsed,
      attempts: mail.attempts,
      size: message.size,
      latency_ms: Math.max(0, time.getTime() - mail.receivedAt.getTime()),
    },
  })
}

/** A mail whose id is taken by a different mail is stored under an id of ours; its own header stays as it is (mail 2). */
function messageRow(
  judged: JudgedMail,
  hostname: string,
  known: readonly KnownMessage[],
  threadId: string,
): MessageRow {
  const { mail, inbox, content, sender, spam } = judged
  const { address: inbox_address, ...scope } = inbox
  const now = new Date()
  const trace = traceLines(mail, hostname, sender.trace)
  const taken = known.some(({ message_id }) => message_id === content.messageId)
  const { date } = content
  return {
    id: uuidV7(),
    ...scope,
    inbox_address,
    thread_id: threadId,
    message_id: taken ? makeMessageId(inbox_address.slice(inbox_address.lastIndexOf('@') + 1)) : content.messageId,
    header_id: content.messageId,
    direction: 'received',
    labels: labelsOf(sender, spam),
    timestamp: date !== undefined && date <= mail.receivedAt ? date : mail.receivedAt,
    sender: content.from,
    sender_address: bareAddress(content.from).toLowerCase(),
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
    digest: content.digest,
    handed_over_at: null,
    settled_at: null,
    delayed_at: null,
    created_at: now,
    updated_at: now,
  }
}

function labelsOf(sender: SenderVerdict, spam: SpamVerdict): string[] {
  const authenticated = sender.authentication === 'pass' || sender.authentication === 'internal'
  return ['received', 'unread', ...(spam.spam ? ['spam'] : []), ...(authenticated ? [] : ['unauthenticated'])]
}

function bodyColumns(content: MailContent, trace: string, hostname: string): BodyColumns {
  const { headers } = parseHeadersOnly(Buffer.from(`${trace}\r\n`))
  return {
    text: content.text,
    html: content.html,
    extracted_text: content.extractedText,
    extracted_html: content.extractedHtml,
    headers: mergedHeaders(headers, content.headers, hostname),
  }
}
