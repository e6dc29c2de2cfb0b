import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import type { Attachment } from '@restante/contracts/resources'
import { CALENDAR_FILE_TYPES, restrictedAmong } from '@restante/contracts/vocabulary'
import type { Schedule } from '@restante/jobs'
import { Consumer, decodeEvent, type Kafka } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { CalendarTimers } from '../../timers/kinds.ts'

/** Labels that keep an invitation from the calendar (calendar 15). */
const KEEPING_OUT = ['spam', 'blocked', 'unauthenticated']

interface Arrivals {
  readonly kafka: Kafka
  readonly db: Database
  readonly timers: Schedule<CalendarTimers>
}

/** Most mails bring no invitation: they are looked at together. One that does is in the calendar so much later. */
const GATHER_MS = 200

type MailEvent = EventOf<Topic<'mail.messages'>>
type Arrival = CalendarTimers['invitation-in']

/**
 * Notes the received mails that may have a calendar file: those that arrive with one, and those that lose a label which kept
 * them out.
 */
export function arrivalsConsumer({ kafka, db, timers }: Arrivals) {
  const topic = topics['mail.messages']
  return new Consumer({
    kafka,
    db,
    service: 'calendar',
    topic,
    gatherMs: GATHER_MS,
    batch: {
      types: ['message.received', 'label.removed'],
      effectMany: async (tx, recorded) => {
        const arrivals = recorded.flatMap((one) => arrivalOf(decodeEvent(topic, one)))
        const timerOf = (payload: Arrival) => {
          const key = `${payload.inbox_uid}:${payload.message_id}`
          return { kind: 'invitation-in' as const, key, payload }
        }
        await timers.scheduleAll(tx, arrivals.map(timerOf))
      },
    },
  })
}

function arrivalOf({ type, payload, routing }: MailEvent): Arrival[] {
  if (routing.inboxUid === undefined) return []
  const inbox = { inbox_uid: routing.inboxUid }
  if (type === 'message.received') {
    const { attachments = [], labels, message_id } = payload.message
    const isArrival = attachments.some(isCalendar) && restrictedAmong(labels).length === 0
    return isArrival ? [{ ...inbox, message_id }] : []
  }
  const isLetIn = type === 'label.removed' && KEEPING_OUT.includes(payload.label)
  return isLetIn ? [{ ...inbox, message_id: payload.message_id }] : []
}

export function isKeptOut(labels: readonly string[]): boolean {
  return labels.some((label) => KEEPING_OUT.includes(label))
}

function isCalendar({ content_type }: Attachment): boolean {
  return content_type !== undefined && CALENDAR_FILE_TYPES.includes(content_type.toLowerCase())
}
