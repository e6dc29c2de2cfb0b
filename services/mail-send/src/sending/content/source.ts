import { type Caller, type CallerInbox, visibleLabels } from '@restante/contracts/access'
import { isMadeMessageId } from '@restante/mime'
import type { Queryable } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { copies } from '../copies/store.ts'
import type { AnsweredMessage } from './message.ts'

/** A large source takes time to transfer; the mailbox answers small ones within milliseconds. */
const TIMEOUT_MS = 5_000

/**
 * Reads the message that is answered from its owner. One that the inbox sent moments ago may not be there yet: then its
 * copy is placed there first, which has no effect when the mailbox has it or remembers its deletion (mail 6.3).
 * @throws ApiError 404 when it is not in this inbox, or hidden from the caller's key.
 */
export async function readSource(
  { db, mailIngest }: { readonly db: Queryable; readonly mailIngest: ServiceClient<'mail-send'> },
  caller: Caller,
  inbox: CallerInbox,
  messageId: string,
): Promise<AnsweredMessage> {
  const request = { inbox_uid: inbox.uid, message_id: messageId, visible_labels: visibleLabels(caller.credential) }
  const read = async () => (await mailIngest.call('mail-ingest.getReplySource', request, TIMEOUT_MS)).source
  const source = (await read()) ?? ((await bringCopy(db, mailIngest, inbox, messageId)) ? await read() : undefined)
  if (!source) throw notFound('Message')
  const { thread_id: threadId, author, subject, text, html } = source
  return {
    threadId,
    attachments: source.attachments,
    source: {
      messageId: source.message_id,
      from: source.from,
      replyTo: source.reply_to ?? [],
      to: source.to,
      cc: source.cc ?? [],
      references: source.references,
      timestamp: new Date(source.timestamp),
      sentByInbox: source.sent,
      author,
      ...(subject !== undefined && { subject }),
      ...(text !== undefined && { text }),
      ...(html !== undefined && { html }),
    },
  }
}

/**
 * Places the copy of a message in the mailbox that may not have it yet.
 * @returns whether the inbox sent this message so recently that it may have been missing.
 */
export async function bringCopy(
  db: Queryable,
  mailIngest: ServiceClient<'mail-send'>,
  { uid, address }: CallerInbox,
  messageId: string,
): Promise<boolean> {
  if (!isMadeMessageId(messageId, address.slice(address.lastIndexOf('@') + 1))) return false
  const recent = await copies.recent(db, [{ inbox_uid: uid, message_id: messageId }])
  const copy = recent.length > 0 ? await copies.first(db, uid, [messageId]) : undefined
  if (copy) await mailIngest.call('mail-ingest.placeSent', copy, TIMEOUT_MS)
  return copy !== undefined
}
