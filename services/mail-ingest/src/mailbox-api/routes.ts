import type { Caller } from '@restante/contracts/access'
import type { AttachmentResponse } from '@restante/contracts/resources'
import type { Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { Cursors, Handlers } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { attachmentTexts } from '../attachment-texts/store.ts'
import type { DownloadLinks } from '../files/links.ts'
import type { LabelChange } from '../mailbox/label-log.ts'
import { attachmentDocument, messageDocument } from '../mailbox/rows/documents.ts'
import type { StoredAttachment } from '../mailbox/rows/rows.ts'
import { store } from '../mailbox/store.ts'
import type { RecentlySent } from '../sent/recently-sent.ts'
import { getMessages } from './batch-get.ts'
import { changeLabels, changeLabelsOfSeveral, changeThreadLabels } from './change-labels.ts'
import { deleteMessage, deleteThread } from './delete-messages.ts'
import { listInboxEvents } from './inbox-events.ts'
import { listMessages } from './message-list.ts'
import { searchMessages } from './message-search.ts'
import { searchThreads } from './search/thread-search.ts'
import { findThreadAttachment } from './thread-attachment.ts'
import { listThreads } from './thread-list.ts'
import { getThread } from './thread-view.ts'
import { visibleMessage } from './visible.ts'

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
    'threads.search': ({ caller, query }) => searchThreads(options, caller, query),
    'threads.get': ({ caller, params: { thread_id }, query }) =>
      justSent.thread(caller, thread_id, () => getThread(options, caller, thread_id, query)),
    'threads.getAttachment': async ({ caller, params: { thread_id, attachment_id } }) =>
      justSent.thread(caller, thread_id, async () => {
        const { messageUid, attachment } = await findThreadAttachment(db, caller, thread_id, attachment_id)
        return linkedAttachment(options, messageUid, attachment)
      }),
    'threads.update': ({ caller, params: { thread_id }, body }) =>
      justSent.thread(caller, thread_id, () => changeThreadLabels(options, caller, thread_id, wantedLabels(body))),
    'threads.delete': async ({ caller, params: { thread_id } }) => {
      await justSent.thread(caller, thread_id, () => deleteThread(options, caller, thread_id))
    },
    'messages.list': ({ caller, query }) => listMessages(options, caller, query),
    'messages.search': ({ caller, query }) => searchMessages(options, caller, query),
    'messages.batchGet': ({ caller, body }) => getMessages(db, caller, body.message_ids),
    'messages.batchUpdate': async ({ caller, body }) => {
      const { message_ids: ids } = body
      const updates = await changeLabelsOfSeveral(options, caller, ids, wantedLabels(body))
      return { limit: ids.length, count: updates.length, updates }
    },
    'inboxEvents.list': ({ caller, query }) => listInboxEvents(options, caller, query),
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
      return linkedAttachment(options, id, attachment)
    },
    'messages.update': ({ caller, params: { message_id }, body }) =>
      justSent.message(requireInbox(caller), message_id, () =>
        changeLabels(options, caller, message_id, wantedLabels(body)),
      ),
    'messages.delete': async ({ caller, params: { message_id } }) => {
      await justSent.message(requireInbox(caller), message_id, () => deleteMessage(options, caller, message_id))
    },
  }
}

async function linkedAttachment(
  { db, links }: MailboxRoutesOptions,
  messageUid: string,
  attachment: StoredAttachment,
): Promise<AttachmentResponse> {
  const { attachment_id } = attachment
  const hasText = await attachmentTexts.exists(db, messageUid, attachment_id)
  return { ...attachmentDocument(attachment), ...links.attachment(messageUid, attachment_id, hasText) }
}

function wantedLabels(body: {
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
}): LabelChange {
  return { added: body.add_labels ?? [], removed: body.remove_labels ?? [] }
}
