import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { requireInbox } from '@restante/service/identity'
import type { MailMessageEvent } from '../mailbox/label-log.ts'
import type { MessageRow } from '../mailbox/rows.ts'
import { store } from '../mailbox/store.ts'
import { listsOf } from '../mailbox/thread-totals.ts'
import { rawMails } from '../raw/store.ts'
import { tombstones } from '../sent/store.ts'
import { underMailboxLock } from './change-labels.ts'
import { visibleMessage } from './visible-message.ts'

/**
 * Deletes a message permanently: its row, its bytes once no other row needs them, and its contribution to the thread,
 * which is deleted with its last message. Later events about a sent message have no effect (mail 7).
 */
export function deleteMessage(
  deps: { db: Database; outbox: Outbox; sweep: () => void },
  caller: Caller,
  messageId: string,
): Promise<void> {
  return underMailboxLock(deps.db, requireInbox(caller).uid, async (tx) => {
    const message = await visibleMessage(tx, caller, messageId)
    const now = new Date()
    await store.deleteMessage(tx, message.id)
    await rawMails.release(tx, [message.blob])
    if (message.direction === 'sent') await tombstones.add(tx, message.inbox_uid, [message.message_id], now)
    const threadDeleted = await withdrawFromThread(tx, message, now)
    await deps.outbox.add(tx, topics['mail.messages'], deletedEvent(message, threadDeleted, now))
    tx.afterCommit(deps.sweep)
  })
}

/** @returns whether it was the thread's last message. */
async function withdrawFromThread(tx: Tx, { thread_id }: MessageRow, now: Date): Promise<boolean> {
  const thread = await store.thread(tx, thread_id)
  const members = await store.newestMembers(tx, thread_id)
  const [first, newest] = [(await store.firstMember(tx, thread_id))[0], members.at(-1)]
  if (!thread || !first || !newest) {
    await store.deleteThread(tx, thread_id)
    return true
  }
  const { timestamp, preview, message_id: last_message_id } = newest
  const ofNewest = { timestamp, preview, last_message_id, ...listsOf(members) }
  const counts = await store.counts(tx, thread_id)
  await store.saveThreads(tx, [{ ...thread, ...ofNewest, ...counts, subject: first.subject, updated_at: now }])
  await store.uniteLabels(tx, thread_id, now)
  return false
}

function deletedEvent(message: MessageRow, threadDeleted: boolean, now: Date): MailMessageEvent {
  const { organization_id, pod_id, inbox_uid, thread_id, message_id, size } = message
  const payload = {
    organization_id,
    pod_id,
    inbox_uid,
    thread_id,
    message_id,
    size,
    thread_deleted: threadDeleted,
    deleted_at: now.toISOString(),
  }
  return topics['mail.messages'].event('message.deleted', payload, { time: now, about: message })
}
