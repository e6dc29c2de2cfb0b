import { topics } from '@restante/contracts/events'
import { Consumer, type EffectHandler, type Kafka, type Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { applyDeliveryEvent } from './apply-delivery-event.ts'
import type { DeliveryEvent } from './delivery-events.ts'
import type { SentPlacement } from './placement.ts'

export interface DeliveriesConsumerOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly outbox: Outbox
  readonly placement: SentPlacement
}

/** Turns events of mail-send about sent mail into copies, labels and public events. */
export function deliveriesConsumer({ kafka, db, outbox, placement }: DeliveriesConsumerOptions) {
  const applied: EffectHandler<DeliveryEvent> = { effect: (tx, event) => applyDeliveryEvent(tx, outbox, event) }
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic: topics['mail.deliveries'],
    handlers: {
      'message.accepted': { prepare: (event) => placement.prepare(event.payload) },
      'delivery.handed_over': applied,
      'delivery.delivered': applied,
      'delivery.delayed': applied,
      'delivery.bounced': applied,
      'delivery.complained': applied,
      'delivery.rejected': applied,
      'delivery.opened': applied,
    },
  })
}
