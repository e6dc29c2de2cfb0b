import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { hasReceivedMail, receivedSince } from './store.ts'

type Ids = 'mail-ingest.hasReceivedMail' | 'mail-ingest.receivedSince'

/** Internal operations about received mail, for the gateway. */
export function inboundRoutes(db: Database): Pick<InternalHandlers<'mail-ingest'>, Ids> {
  return {
    'mail-ingest.hasReceivedMail': async ({ body }) => ({ received: await hasReceivedMail(db, body.organization_id) }),
    'mail-ingest.receivedSince': async ({ body }) => ({
      organization_ids: await receivedSince(db, body.organization_ids, body.since),
    }),
  }
}
