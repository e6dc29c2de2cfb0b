import { topics } from '@restante/contracts/events'
import type { MailMessageEvent } from './label-log.ts'
import type { MessageRow, ThreadRow } from './rows/rows.ts'

/**
 * The event that a message is in its mailbox, with what its mailbox holds more from now on: what `message.deleted` takes
 * away again (identity 9.2).
 * @param thread its thread as of this message, without any that is stored after it.
 */
export function storedEvent(message: MessageRow, thread: ThreadRow): MailMessageEvent {
  const { organization_id, pod_id, inbox_uid, thread_id, message_id, direction, size, created_at: time } = message
  const payload = {
    organization_id,
    pod_id,
    inbox_uid,
    thread_id,
    message_id,
    direction,
    size,
    thread_created: thread.message_count === 1,
    stored_at: time.toISOString(),
  }
  return topics['mail.messages'].event('message.stored', payload, { time, about: message })
}
