import { topics } from '@restante/contracts/events'
import { Consumer, type Kafka } from '@restante/messaging'
import { type Database, sql } from '@restante/service/database'

const APPLIED = sql<never, [inboxUid: string, messageId: string, calendarEventId: string, at: string]>(`
update messages set calendar_event_id = $3, updated_at = greatest(updated_at, $4::timestamptz)
 where inbox_uid = $1 and message_id = $2 and direction = 'received' and calendar_event_id is distinct from $3`)

/** Shows with a received message what its calendar file was applied to (calendar 15). */
export function invitationsConsumer({ kafka, db }: { readonly kafka: Kafka; readonly db: Database }) {
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic: topics['calendar.events'],
    handlers: {
      'invitation.applied': {
        effect: async (tx, { payload, time }) => {
          const { inbox_uid, message_id, calendar_event_id } = payload
          await tx.query(APPLIED, inbox_uid, message_id, calendar_event_id, time.toISOString())
        },
      },
    },
  })
}
