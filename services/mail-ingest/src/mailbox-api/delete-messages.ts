import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { requireInbox } from '@restante/service/identity'
import { uniteLabels } from '../mailbox/changes.ts'
import type { MailMessageEvent } from '../mailbox/label-log.ts'
import { type DeletableRow, store } from '../mailbox/store.ts'
import { listsOf } from '../mailbox/thread-totals.ts'
import { rawMails } from '../raw/store.ts'
import { tombstones } from '../sent/store.ts'
import { underMailboxLock } from './change-labels.ts'
import { visibleMessage, visibleThread } from './visible.ts'

interface Deps {
  readonly db: Database
  readonly outbox: Outbox
  /** Called when bytes may have become unused. */
  readonly sweep: () => void
}

/** Messages of a thread that are deleted in one transaction: others wait for its lock. */
const BATCH = 200

/**
 * Deletes a message permanently: its row, its bytes once no other row needs them, and its contribution to the thread,
 * which is deleted with its last message. Later events about a sent message have no effect (mail 7).
 */
export function deleteMessage(deps: Deps, caller: Caller, messageId: string): Promise<void> {
  return underMailboxLock(deps.db, caller, requireInbox(caller).uid, async (tx) => {
    const message = await visibleMessage(tx, caller, messageId)
    const attachment_ids = message.attachments.map(({ attachment_id }) => attachment_id)
    await deleteOfThread(tx, deps, [{ ...message, attachment_ids }])
  })
}

/**
 * Deletes a thread permanently, with all its messages (mail 10). A long one is deleted in batches, so that its inbox is
 * not locked for long; mail that joins it meanwhile is deleted as well, and so is what was sent into it and comes here later.
 * After a crash the rest of it remains, and is deleted when the request is repeated.
 */
export async function deleteThread(deps: Deps, caller: Caller, threadId: string): Promise<void> {
  const { inbox_uid } = await visibleThread(deps.db, caller, threadId)
  for (let begun = false, more = true; more; begun = true) {
    more = await underMailboxLock(deps.db, caller, inbox_uid, async (tx) => {
      if (!begun) await visibleThread(tx, caller, threadId)
      const messages = await store.deletableOfThread(tx, threadId, BATCH)
      // With its last message, and not before: a thread that remains in part may be answered.
      const isDeleted = await deleteOfThread(tx, deps, messages)
      if (isDeleted) await tombstones.addThread(tx, inbox_uid, threadId, new Date())
      return messages.length === BATCH
    })
  }
}

/** @param messages of one thread. @returns whether they were its last. */
async function deleteOfThread(tx: Tx, { outbox, sweep }: Deps, messages: readonly DeletableRow[]): Promise<boolean> {
  const [first] = messages
  if (!first) return false
  const now = new Date()
  await Promise.all([
    store.deleteMessages(
      tx,
      messages.map(({ id }) => id),
    ),
    rawMails.release(
      tx,
      messages.map(({ blob }) => blob),
    ),
    tombstones.add(
      tx,
      messages.filter(({ direction }) => direction === 'sent'),
      now,
    ),
  ])
  const isThreadDeleted = await withdrawFromThread(tx, first.thread_id, messages, now)
  const last = messages.length - 1
  const events = messages.map((message, index) => deletedEvent(message, isThreadDeleted && index === last, now))
  await outbox.addAll(tx, topics['mail.messages'], events)
  tx.afterCommit(sweep)
  return isThreadDeleted
}

/** Updates a thread of which messages were deleted. @returns whether they were its last. */
async function withdrawFromThread(
  tx: Tx,
  threadId: string,
  deleted: readonly DeletableRow[],
  now: Date,
): Promise<boolean> {
  if (await areUnlisted(tx, threadId, deleted)) {
    const bytes = deleted.reduce((sum, { size }) => sum + size, 0)
    const attachmentIds = deleted.flatMap(({ attachment_ids }) => attachment_ids)
    await store.withdrawUnlisted(tx, threadId, { messages: deleted.length, bytes, attachmentIds }, now)
    return false
  }
  const [thread, members, [first], counts] = await Promise.all([
    store.thread(tx, threadId),
    store.newestMembers(tx, threadId),
    store.firstMember(tx, threadId),
    store.counts(tx, threadId),
  ])
  const newest = members.at(-1)
  if (!thread || !first || !newest) {
    await store.deleteThread(tx, threadId)
    return true
  }
  const { timestamp, preview, message_id: last_message_id } = newest
  const ofNewest = { timestamp, preview, last_message_id, ...listsOf(members) }
  await store.saveThreads(tx, [{ ...thread, ...ofNewest, ...counts, subject: first.subject, updated_at: now }])
  await uniteLabels(tx, threadId, now)
  return false
}

/**
 * Whether the thread's lists, and its times of the newest messages, are the same without these messages: nearly always
 * those of a long thread, of which only the newest are listed.
 */
async function areUnlisted(tx: Tx, threadId: string, deleted: readonly DeletableRow[]): Promise<boolean> {
  const since = await store.listedSince(tx, threadId)
  if (since === undefined || deleted.some(({ timestamp }) => timestamp >= since)) return false
  const thread = await store.thread(tx, threadId)
  return deleted.every(({ direction, timestamp }) => {
    const newest = direction === 'sent' ? thread?.sent_timestamp : thread?.received_timestamp
    return newest !== undefined && newest !== null && timestamp < newest
  })
}

function deletedEvent(message: DeletableRow, threadDeleted: boolean, now: Date): MailMessageEvent {
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
