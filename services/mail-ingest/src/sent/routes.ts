import type { ReplySource } from '@restante/contracts/internal'
import { restrictedAmong } from '@restante/contracts/vocabulary'
import type { OpenImage } from '@restante/mime'
import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { attachmentDocument } from '../mailbox/rows/documents.ts'
import { store } from '../mailbox/store.ts'
import type { LocalHandOver } from './hand-over/local-hand-over.ts'
import type { SentPlacement } from './placement.ts'

export interface SentRoutesOptions {
  readonly db: Database
  readonly placement: SentPlacement
  readonly handOver: LocalHandOver
  readonly openImage: OpenImage
}

type SentOperations =
  | 'mail-ingest.getReplySource'
  | 'mail-ingest.placeSent'
  | 'mail-ingest.acceptInbound'
  | 'mail-ingest.acceptForOperator'
  | 'mail-ingest.acceptNotice'

/** Internal operations for mail-send. */
export function sentRoutes(options: SentRoutesOptions): Pick<InternalHandlers<'mail-ingest'>, SentOperations> {
  const { placement, handOver } = options
  return {
    'mail-ingest.getReplySource': async ({ body }) => {
      const source = await replySource(options, body.inbox_uid, body.message_id, body.visible_labels)
      return source ? { source } : {}
    },
    'mail-ingest.placeSent': async ({ body }) => {
      await placement.place(body)
      return {}
    },
    'mail-ingest.acceptInbound': async ({ body }) => ({ outcome: await handOver.accept(body) }),
    'mail-ingest.acceptForOperator': async ({ body }) => ({ outcome: await handOver.acceptForOperator(body) }),
    'mail-ingest.acceptNotice': async ({ body }) => ({ outcome: await handOver.acceptNotice(body) }),
  }
}

async function replySource(
  { db, openImage }: Pick<SentRoutesOptions, 'db' | 'openImage'>,
  inboxUid: string,
  messageId: string,
  visible: readonly string[],
): Promise<ReplySource | undefined> {
  const message = await store.message(db, inboxUid, messageId)
  if (!message || restrictedAmong(message.labels).some((label) => !visible.includes(label))) return undefined
  const { text, html } = await store.body(db, message.id)
  return {
    message_id: message.message_id,
    thread_id: message.thread_id,
    sent: message.direction === 'sent',
    timestamp: message.timestamp.toISOString(),
    from: message.sender,
    ...(message.sender_address !== '' && { author: message.sender }),
    to: [...message.to],
    cc: [...message.cc],
    reply_to: [...message.reply_to],
    references: [...message.references],
    attachments: message.attachments.map(attachmentDocument),
    ...(message.subject !== null && { subject: message.subject }),
    ...(text !== null && { text }),
    ...(html !== null && { html: openImage.removeFrom(html) }),
  }
}
