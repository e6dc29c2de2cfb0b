import type { Caller } from '@restante/contracts/access'
import type { UpdatedMessage } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { ApiError, invalid } from '@restante/service/errors'
import { requireInbox } from '@restante/service/identity'
import { changedLabels, type LabelChange, logLabels } from '../mailbox/label-log.ts'
import { lockMailbox } from '../mailbox/lock.ts'
import { store } from '../mailbox/store.ts'
import { visibleMessage } from './visible-message.ts'

const LOCK_WAIT_MS = 1_000
const ATTEMPTS = 3

/**
 * Adds labels to a message and removes others. Adding a present label or removing an absent one changes nothing (mail
 * 4.3, 7).
 */
export function changeLabels(
  deps: { db: Database; outbox: Outbox },
  caller: Caller,
  messageId: string,
  wanted: LabelChange,
): Promise<UpdatedMessage> {
  return underMailboxLock(deps.db, requireInbox(caller).uid, async (tx) => {
    const message = await visibleMessage(tx, caller, messageId)
    const { labels, change } = changedLabels(message.labels, wanted)
    if (change.added.length > 0 && labels.length > LIMITS.labels.perResource) {
      throw invalid(['add_labels'], `A message can have at most ${LIMITS.labels.perResource} labels`)
    }
    if (change.added.length + change.removed.length > 0) {
      const now = new Date()
      await store.setLabels(tx, message, labels, now)
      await logLabels(tx, deps.outbox, { message: { ...message, labels }, change, at: now })
    }
    return { message_id: message.message_id, labels }
  })
}

/**
 * Runs a caller's change under the mailbox lock. A change that does not get the lock in time is retried; after the last
 * attempt the caller gets `race_condition`: the change had no effect (mail 4.3).
 */
export async function underMailboxLock<T>(db: Database, inboxUid: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(async (tx) => {
        await lockMailbox(tx, inboxUid, LOCK_WAIT_MS)
        return work(tx)
      })
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (attempt === ATTEMPTS) throw new ApiError('race_condition', { cause: error })
    }
  }
}

/** PostgreSQL's `lock_not_available`. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}
