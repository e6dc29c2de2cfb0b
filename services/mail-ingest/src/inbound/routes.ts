import type { InternalHandlers } from '@restante/service'
import type { Db } from '../database.ts'
import { hasReceivedMail } from './store.ts'

/** What the gateway asks about arrived mail. */
export function inboundRoutes(db: Db): Pick<InternalHandlers<'mail-ingest'>, 'mail-ingest.hasReceivedMail'> {
  return {
    'mail-ingest.hasReceivedMail': async ({ body }) => ({ received: await hasReceivedMail(db, body.organization_id) }),
  }
}
