import type { Outbox } from '@restante/messaging'
import type { Tx } from '../database.ts'
import { logLabels } from './label-log.ts'
import type { BodyColumns, MessageRow, ThreadRow } from './rows.ts'
import { store } from './store.ts'
import { extendTotals, totalsOf } from './thread-totals.ts'

/**
 * Puts a message into its thread, which is made when it does not exist, and logs its first labels. The caller holds
 * the mailbox lock.
 * @returns the thread with the message in it.
 */
export async function insertIntoThread(tx: Tx, message: MessageRow, body: BodyColumns): Promise<ThreadRow> {
  const known = await store.thread(tx, message.thread_id)
  await store.insertMessage(tx, message, body)
  const isNewest = known === undefined || message.timestamp >= known.timestamp
  const totals = isNewest ? extendTotals(known, message) : totalsOf(await store.members(tx, message.thread_id))
  if (totals === undefined) throw new Error('a thread lost the message that was just stored')
  const { organization_id, pod_id, inbox_uid, inbox_address, created_at, updated_at } = message
  const scope = { organization_id, pod_id, inbox_uid, inbox_address }
  const thread = { id: message.thread_id, ...scope, ...totals, created_at: known?.created_at ?? created_at, updated_at }
  await store.saveThread(tx, thread)
  return thread
}

/** Logs the labels that a message was stored with. */
export function logFirstLabels(tx: Tx, outbox: Outbox, message: MessageRow): Promise<void> {
  return logLabels(tx, outbox, message, { added: message.labels, removed: [] }, message.created_at)
}
