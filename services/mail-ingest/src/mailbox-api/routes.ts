import type { Caller } from '@restante/contracts/access'
import type { Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { Cursors, Handlers } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import type { DownloadLinks } from '../files/links.ts'
import { attachmentDocument, messageDocument } from '../mailbox/documents.ts'
import { store } from '../mailbox/store.ts'
import type { RecentlySent } from '../sent/recently-sent.ts'
import { changeLabels } from './change-labels.ts'
import { deleteMessage } from './delete-message.ts'
import { listMessages } from './message-list.ts'
import { listThreads } from './thread-list.ts'
import { getThread } from './thread-view.ts'
import { visibleMessage } from './visible-message.ts'

export interface MailboxRoutesOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly cursors: Cursors
  readonly links: DownloadLinks
  readonly justSent: RecentlySent
  /** Called when bytes may have become unused. */
  readonly sweep: () => void
}

/** Operations on stored messages and threads (mail 6, 7, 10). */
export function mailboxRoutes(options: MailboxRoutesOptions): Omit<Handlers<'mail-ingest'>, 'files.download'> {
  const { db, links, justSent } = options
  const visible = (caller: Caller, messageId: string) =>
    justSent.message(requireInbox(caller), messageId, () => visibleMessage(db, caller, messageId))
  return {
    'threads.list': ({ caller, query }) => listThreads(options, caller, query),
    'threads.get': ({ caller, params: { thread_id }, query }) =>
      justSent.thread(caller, thread_id, () => getThread(options, caller, thread_id, query)),
    'messages.list': ({ caller, query }) => listMessages(options, caller, query),
    'messages.get': async ({ caller, params }) => {
      const message = await visible(caller, params.message_id)
      return messageDocument({ ...message, ...(await store.body(db, message.id)) })
    },
    'messages.getRaw': async ({ caller, params }) => {
      const { id, message_id, size } = await visible(caller, params.message_id)
      return { message_id, size, ...links.raw(id) }
    },
    'messages.getAttachment': async ({ caller, params }) => {
      const { id, attachments } = await visible(caller, params.message_id)
      const attachment = attachments.find(({ attachment_id }) => attachment_id === params.attachment_id)
      if (!attachment) throw notFound('Attachment')
      return { ...attachmentDocument(attachment), ...links.attachment(id, attachment.attachment_id) }
    },
    'messages.update': ({ caller, params: { message_id }, body }) => {
      const change = { added: body.add_labels ?? [], removed: body.remove_labels ?? [] }
      return justSent.message(requireInbox(caller), message_id, () => changeLabels(options, caller, message_id, change))
    },
    'messages.delete': async ({ caller, params: { message_id } }) => {
      await justSent.message(requireInbox(caller), message_id, () => deleteMessage(options, caller, message_id))
    },
  }
}
