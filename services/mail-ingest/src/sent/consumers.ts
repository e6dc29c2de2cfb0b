import { topics } from '@restante/contracts'
import { Consumer, type EffectHandler, type Kafka, type Outbox } from '@restante/messaging'
import type { Database } from '@restante/service'
import { applyFact } from './apply-delivery-event.ts'
import type { DeliveryFact } from './delivery-events.ts'
import type { SentPlacement } from './placement.ts'

export interface DeliveriesConsumerOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly outbox: Outbox
  readonly placement: SentPlacement
}

/** Turns events of mail-send about sent mail into copies, labels and public events. */
export function deliveriesConsumer({ kafka, db, outbox, placement }: DeliveriesConsumerOptions) {
  const fact: EffectHandler<DeliveryFact> = { effect: (tx, event) => applyFact(tx, outbox, event) }
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic: topics['mail.deliveries'],
    handlers: {
      'message.accepted': { prepare: (event) => placement.prepare(event.payload) },
      'delivery.handed_over': fact,
      'delivery.delivered': fact,
      'delivery.delayed': fact,
      'delivery.bounced': fact,
      'delivery.complained': fact,
      'delivery.rejected': fact,
    },
  })
}
