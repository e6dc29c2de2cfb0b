import { topics } from '@restante/contracts/events'
import type { Attachment } from '@restante/contracts/resources'
import { CALENDAR_FILE_TYPES, restrictedAmong } from '@restante/contracts/vocabulary'
import type { Schedule } from '@restante/jobs'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import type { CalendarTimers } from '../../timers/kinds.ts'

/** Labels that keep an invitation from the calendar (calendar 15). */
const KEEPING_OUT = ['spam', 'blocked', 'unauthenticated']

interface Arrivals {
  readonly kafka: Kafka
  readonly db: Database
  readonly timers: Schedule<CalendarTimers>
}

/**
 * Notes the received mails that may have a calendar file: those that arrive with one, and those that lose a label which kept
 * them out.
 */
export function arrivalsConsumer({ kafka, db, timers }: Arrivals) {
  const note = async (tx: Tx, inboxUid: string | undefined, messageId: string) => {
    if (inboxUid === undefined) return
    const payload = { inbox_uid: inboxUid, message_id: messageId }
    await timers.schedule(tx, { kind: 'invitation-in', key: `${inboxUid}:${messageId}`, payload })
  }
  return new Consumer({
    kafka,
    db,
    service: 'calendar',
    topic: topics['mail.messages'],
    handlers: {
      'message.received': {
        effect: async (tx, { payload: { message }, routing }) => {
          const { attachments = [], labels, message_id } = message
          if (!attachments.some(isCalendar) || restrictedAmong(labels).length > 0) return
          await note(tx, routing.inboxUid, message_id)
        },
      },
      'label.removed': {
        effect: async (tx, { payload: { label, message_id }, routing }) => {
          if (KEEPING_OUT.includes(label)) await note(tx, routing.inboxUid, message_id)
        },
      },
    },
  })
}

export function isKeptOut(labels: readonly string[]): boolean {
  return labels.some((label) => KEEPING_OUT.includes(label))
}

function isCalendar({ content_type }: Attachment): boolean {
  return content_type !== undefined && CALENDAR_FILE_TYPES.includes(content_type.toLowerCase())
}
