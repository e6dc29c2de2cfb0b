import { topics } from '@restante/contracts/events'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { Unsubscribing } from '../unsubscribe/unsubscribing.ts'
import type { Reports } from './reports.ts'

/** Consumes reports about sent mail, and requests to unsubscribe, that arrived by mail. */
export function feedbackConsumer(deps: {
  kafka: Kafka
  db: Database
  reports: Reports
  unsubscribing: Unsubscribing
}): Consumer<(typeof topics)['mail.feedback']> {
  const { kafka, db, reports, unsubscribing } = deps
  return new Consumer({
    kafka,
    db,
    service: 'mail-send',
    topic: topics['mail.feedback'],
    handlers: {
      'bounce.reported': { effect: (tx, event) => reports.bounce(tx, event) },
      'complaint.reported': { effect: (tx, event) => reports.complaint(tx, event) },
      'unsubscribe.requested': { effect: (tx, event) => unsubscribing.requested(tx, event) },
    },
  })
}
