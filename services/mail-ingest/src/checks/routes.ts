import type { BlobStore } from '@restante/blobs'
import { domainsCheck } from '@restante/domains'
import { checkHandler, orphansCheck } from '@restante/kit'
import { missedEventsCheck, outboxCheck } from '@restante/messaging'
import type { InternalHandlers } from '@restante/service/http'
import { listInboxes } from '@restante/tenancy'
import type { IngestKit } from '../config.ts'
import { invitationsConsumer } from '../invitations/consumers.ts'
import { listsCheck } from '../lists/check.ts'
import { listsConsumer } from '../lists/consumers.ts'
import { heldInboxes } from '../mailbox/held-inboxes.ts'
import { missingCopies } from '../mailbox/missing-copies.ts'
import { lostBytesCheck, referencedBlobs } from '../raw/lost-bytes.ts'
import { deliveriesConsumer } from '../sent/consumers.ts'
import type { SentPlacement } from '../sent/placement.ts'
import type { MailTenancy } from '../tenancy/open-tenancy.ts'
import { countMailboxes } from './count-mailboxes.ts'

type CheckOperation =
  | 'mail-ingest.check'
  | 'mail-ingest.listInboxes'
  | 'mail-ingest.findMissingCopies'
  | 'mail-ingest.countMailboxes'

interface Checked {
  readonly blobs: BlobStore
  readonly placement: SentPlacement
  readonly tenancy: MailTenancy['tenancy']
}

/** What the operator's command asks this service, and what other services ask for theirs. */
export function checkRoutes(
  kit: IngestKit,
  { blobs, placement, tenancy }: Checked,
): Pick<InternalHandlers<'mail-ingest'>, CheckOperation> {
  const { db, kafka, outbox, log } = kit
  // Not started here: they only handle what is given to them.
  const consumers = [
    tenancy.consumer,
    deliveriesConsumer({ kafka, db, outbox, placement }),
    invitationsConsumer({ kafka, db }),
    listsConsumer({ kafka, db }),
  ]
  return {
    'mail-ingest.check': checkHandler(
      { service: 'mail-ingest', log },
      {
        outbox: outboxCheck(db),
        events: missedEventsCheck({ kafka, db, consumers }),
        domains: domainsCheck(db, kit.peer('domains-dns')),
        lists: listsCheck(db, kit.peer('mail-send')),
        bytes: lostBytesCheck({ db, blobs }),
        blobs: orphansCheck({
          blobs,
          prefixes: ['inbound/', 'mailbox/'],
          known: (names) => referencedBlobs(db, names),
        }),
      },
    ),
    'mail-ingest.listInboxes': listInboxes(db, (after, rows) => heldInboxes(db, after, rows)),
    'mail-ingest.findMissingCopies': async ({ body }) => ({ missing: await missingCopies(db, body.messages) }),
    'mail-ingest.countMailboxes': ({ body }) => countMailboxes(db, body),
  }
}
