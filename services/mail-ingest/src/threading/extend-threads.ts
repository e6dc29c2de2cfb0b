import { topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import { insertMessages } from '../mailbox/insert-messages.ts'
import { insertLabelRecords, type LabelRecord, labelEvent, labelRecords } from '../mailbox/label-log.ts'
import type { MessageRow, MessageWithBody, ThreadRow, ThreadTotals } from '../mailbox/rows/rows.ts'
import { store } from '../mailbox/store.ts'
import { storedEvent } from '../mailbox/stored-event.ts'
import { extendTotals, insertIntoTotals, type ThreadMember } from '../mailbox/thread-totals.ts'

/**
 * The threads of messages that are to be stored in this order. The caller holds the locks of their mailboxes.
 * @param isNew whether the id of a thread was created for one of these messages, so that no look-up is needed.
 * @returns for each message its thread, including this message.
 */
export async function extendThreads(
  tx: Tx,
  added: readonly MessageWithBody[],
  isNew: (threadId: string) => boolean,
): Promise<ThreadRow[]> {
  const ids = new Set(added.map(({ message }) => message.thread_id).filter((id) => !isNew(id)))
  const known = ids.size > 0 ? await store.threads(tx, [...ids]) : []
  const threads = new Map(known.map((thread) => [thread.id, thread]))
  const grown: ThreadRow[] = []
  for (const [index, { message }] of added.entries()) {
    const known = threads.get(message.thread_id)
    const totals =
      known === undefined || message.timestamp >= known.timestamp
        ? extendTotals(known, message)
        : await totalsWithOlder(tx, known, message, added.slice(0, index))
    const { organization_id, pod_id, inbox_uid, inbox_address, created_at, updated_at } = message
    const scope = { organization_id, pod_id, inbox_uid, inbox_address }
    const thread = {
      id: message.thread_id,
      ...scope,
      ...totals,
      created_at: known?.created_at ?? created_at,
      updated_at,
    }
    threads.set(thread.id, thread)
    grown.push(thread)
  }
  return grown
}

/** Stores messages and the threads that `extendThreads` made for them. The caller records a `storedEvent` of each. */
export async function saveWithThreads(
  tx: Tx,
  added: readonly MessageWithBody[],
  extended: readonly ThreadRow[],
): Promise<void> {
  const last = new Map(extended.map((thread) => [thread.id, thread]))
  await Promise.all([insertMessages(tx, added), store.saveThreads(tx, [...last.values()])])
}

/** @param before the messages that are about to be stored before this one */
async function totalsWithOlder(
  tx: Tx,
  known: ThreadTotals,
  message: MessageRow,
  before: readonly MessageWithBody[],
): Promise<ThreadTotals> {
  const { thread_id } = message
  const unstored = [...before.map(({ message }) => message), message].filter((one) => one.thread_id === thread_id)
  const newest = [...(await store.newestMembers(tx, thread_id)), ...unstored].sort(byAge)
  const [first = message] = [...(await store.firstMember(tx, thread_id)), ...unstored].sort(byAge)
  return insertIntoTotals(known, message, newest, first.subject)
}

type Aged = Pick<ThreadMember, 'id' | 'timestamp'>

function byAge(a: Aged, b: Aged): number {
  return a.timestamp.getTime() - b.timestamp.getTime() || (a.id < b.id ? -1 : 1)
}

/**
 * The initial labels of a message, for the audit log.
 * @param takeOvers number of take-overs of the organization when a caller asked for them, where one did and it is known
 */
export function firstLabels(message: MessageRow, takeOvers?: number): LabelRecord[] {
  return labelRecords({ message, change: { added: message.labels, removed: [] }, at: message.created_at, takeOvers })
}

/** A message that is stored, and how old its labels are (`firstLabels`). */
interface StoredMessage {
  readonly message: MessageRow
  readonly takeOvers: number | undefined
}

/**
 * Logs the initial labels of messages, and publishes them and that they are stored.
 * @param threads for each message its thread, as of this message
 */
export async function announceStored(
  tx: Tx,
  outbox: Outbox,
  stored: readonly StoredMessage[],
  threads: readonly ThreadRow[],
): Promise<void> {
  const announced = stored.map(({ message, takeOvers }, index) => {
    const thread = threads[index]
    if (thread === undefined) throw new Error('a message has no thread')
    const labels = firstLabels(message, takeOvers)
    return { labels, events: [storedEvent(message, thread), ...labels.map(labelEvent)] }
  })
  await Promise.all([
    insertLabelRecords(
      tx,
      announced.flatMap(({ labels }) => labels),
    ),
    outbox.addAll(
      tx,
      topics['mail.messages'],
      announced.flatMap(({ events }) => events),
    ),
  ])
}
