import type { Queryable } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { findDeliveriesOf, findDelivery } from './store.ts'

/** Tells mail-ingest which delivery a report is about where its address does not, and whose mail that was. */
export function feedbackRoutes(db: Queryable): Pick<InternalHandlers<'mail-send'>, 'mail-send.findDeliveries'> {
  return {
    'mail-send.findDeliveries': async ({ body }) => ({
      deliveries: await ('delivery_id' in body
        ? findDelivery(db, body.delivery_id)
        : findDeliveriesOf(db, body.message_id, body.recipients)),
    }),
  }
}
