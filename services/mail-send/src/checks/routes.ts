import type { BlobStore } from '@restante/blobs'
import { domainsCheck } from '@restante/domains'
import type { Schedule } from '@restante/jobs'
import { checkHandler, orphansCheck } from '@restante/kit'
import { missedEventsCheck, outboxCheck } from '@restante/messaging'
import type { InternalHandlers } from '@restante/service/http'
import { listInboxes, type Tenancy } from '@restante/tenancy'
import type { SendKit } from '../config.ts'
import type { DeliveryQueue } from '../delivery/queue/delivery-queue.ts'
import { countDrafts } from '../drafts/state/count.ts'
import type { feedbackConsumer } from '../feedback/consumers.ts'
import type { SendTimers } from '../timers/kinds.ts'
import { heldInboxes } from './held-inboxes.ts'
import { knownOutcomesCheck } from './known-outcomes.ts'
import { lostBytesCheck, lostFilesCheck, referencedBlobs } from './lost-bytes.ts'
import { lostDeliveriesCheck, lostDraftsCheck } from './lost-timers.ts'
import { missingCopiesCheck } from './missing-copies.ts'

interface Parts {
  readonly blobs: BlobStore
  readonly queue: DeliveryQueue
  readonly timers: Schedule<SendTimers>
  readonly tenancy: Tenancy
  readonly feedback: ReturnType<typeof feedbackConsumer>
}

/** What the operator's command asks this service. */
export function checkRoutes(
  kit: SendKit,
  { blobs, queue, timers, tenancy, feedback }: Parts,
): Pick<InternalHandlers<'mail-send'>, 'mail-send.check' | 'mail-send.listInboxes' | 'mail-send.countDrafts'> {
  const { db, kafka, log } = kit
  return {
    'mail-send.check': checkHandler(
      { service: 'mail-send', log },
      {
        outbox: outboxCheck(db),
        outcomes: knownOutcomesCheck({ db, kafka }),
        events: missedEventsCheck({ kafka, db, consumers: [tenancy.consumer, feedback] }),
        domains: domainsCheck(db, kit.peer('domains-dns')),
        bytes: lostBytesCheck({ db, blobs, queue }),
        files: lostFilesCheck({ db, blobs }),
        blobs: orphansCheck({
          blobs,
          prefixes: ['outbound/', 'files/'],
          known: (names) => referencedBlobs(db, names),
        }),
        copies: missingCopiesCheck(db, kit.peer('mail-ingest')),
        timers: lostDeliveriesCheck({ db, timers }),
        drafts: lostDraftsCheck({ db, timers }),
      },
    ),
    'mail-send.listInboxes': listInboxes(db, (after, rows) => heldInboxes(db, after, rows)),
    'mail-send.countDrafts': ({ body }) => countDrafts(db, body),
  }
}
