import type { Caller } from '@restante/contracts/access'
import type { UpdatedMessage, UpdatedThread } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { type Database, isLockTimeout, type Tx } from '@restante/service/database'
import { ApiError, invalid } from '@restante/service/errors'
import { requireInbox } from '@restante/service/identity'
import { setLabels } from '../mailbox/changes.ts'
import { changedLabels, type LabelChange, logLabels } from '../mailbox/label-log.ts'
import { lockMailbox } from '../mailbox/lock.ts'
import type { MessageRow } from '../mailbox/rows/rows.ts'
import { store } from '../mailbox/store.ts'
import { takeOvers } from '../take-overs/table.ts'
import { visibleMessage, visibleMessages, visibleThread } from './visible.ts'

const LOCK_WAIT_MS = 1_000
const ATTEMPTS = 3

interface Deps {
  readonly db: Database
  readonly outbox: Outbox
}

/**
 * Adds labels to a message and removes others. Adding a present label or removing an absent one changes nothing (mail
 * 4.3, 7).
 */
export function changeLabels(
  { db, outbox }: Deps,
  caller: Caller,
  messageId: string,
  wanted: LabelChange,
): Promise<UpdatedMessage> {
  return underMailboxLock(db, caller, requireInbox(caller).uid, async (tx) => {
    const message = await visibleMessage(tx, caller, messageId)
    const [updated] = await relabel(tx, outbox, caller, [message], wanted)
    return updated ?? { message_id: message.message_id, labels: [...message.labels] }
  })
}

/** The same for several messages together. Those that do not exist, or are invisible to this key, are left out (mail 7). */
export function changeLabelsOfSeveral(
  { db, outbox }: Deps,
  caller: Caller,
  messageIds: readonly string[],
  wanted: LabelChange,
): Promise<UpdatedMessage[]> {
  return underMailboxLock(db, caller, requireInbox(caller).uid, async (tx) =>
    relabel(tx, outbox, caller, await visibleMessages(tx, caller, messageIds), wanted),
  )
}

/**
 * The same for all messages of a thread (mail 10).
 * @throws ApiError `unprocessable` for a thread of 100 messages or more.
 */
export async function changeThreadLabels(
  { db, outbox }: Deps,
  caller: Caller,
  threadId: string,
  wanted: LabelChange,
): Promise<UpdatedThread> {
  const { inbox_uid } = await visibleThread(db, caller, threadId)
  return underMailboxLock(db, caller, inbox_uid, async (tx) => {
    const { message_count } = await visibleThread(tx, caller, threadId)
    if (message_count >= LIMITS.thread.relabelled) {
      const fix = 'Change the labels of its messages with POST /v0/inboxes/{inbox_id}/messages/batch-update.'
      throw new ApiError('unprocessable', {
        message: `The thread has ${LIMITS.thread.relabelled} messages or more`,
        fix,
      })
    }
    await relabel(tx, outbox, caller, await store.ofThread(tx, threadId, LIMITS.thread.relabelled), wanted)
    const thread = await store.thread(tx, threadId)
    return { thread_id: threadId, labels: [...(thread?.labels ?? [])] }
  })
}

/** @returns the labels of each message after the change, in the given order. */
async function relabel(
  tx: Tx,
  outbox: Outbox,
  caller: Caller,
  messages: readonly MessageRow[],
  wanted: LabelChange,
): Promise<UpdatedMessage[]> {
  const at = new Date()
  const all = messages.map((message) => {
    const { labels, change } = changedLabels(message.labels, wanted)
    return { message: { ...message, labels, before: message.labels }, change, at, takeOvers: caller.take_overs ?? 0 }
  })
  if (all.some(({ message, change }) => change.added.length > 0 && message.labels.length > LIMITS.labels.perResource)) {
    throw invalid(['add_labels'], `A message can have at most ${LIMITS.labels.perResource} labels`)
  }
  const changed = all.filter(({ change }) => change.added.length + change.removed.length > 0)
  if (changed.length > 0) {
    const relabelled = changed.map(({ message }) => message)
    await Promise.all([setLabels(tx, relabelled, at), logLabels(tx, outbox, changed)])
  }
  return all.map(({ message: { message_id, labels } }) => ({ message_id, labels: [...labels] }))
}

/**
 * Runs a caller's change under the mailbox lock. A change that does not get the lock in time is retried; after the last
 * attempt the caller gets `race_condition`: the change had no effect (mail 4.3).
 * @throws ApiError 401 when the organization was taken over since the gateway admitted the request.
 */
export async function underMailboxLock<T>(
  db: Database,
  caller: Caller,
  inboxUid: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(async (tx) => {
        await lockMailbox(tx, inboxUid, LOCK_WAIT_MS)
        await takeOvers.requireCurrent(tx, caller)
        return work(tx)
      })
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (attempt === ATTEMPTS) throw new ApiError('race_condition', { cause: error })
    }
  }
}
