import { notFound } from '@restante/service/errors'
import { Cursors } from '@restante/service/http'
import { checkRoutes } from '../checks/routes.ts'
import type { Config, IngestKit } from '../config.ts'
import { dmarcCounts } from '../dmarc/store.ts'
import { copyFiles } from '../files/copy.ts'
import { DownloadLinks } from '../files/links.ts'
import { fileRoutes } from '../files/routes.ts'
import { inboundRoutes } from '../inbound/routes.ts'
import { calendarFiles } from '../invitations/calendar-files.ts'
import { existingMessages } from '../mailbox/existing-messages.ts'
import { mailboxRoutes } from '../mailbox-api/routes.ts'
import { LocalHandOver } from '../sent/hand-over/local-hand-over.ts'
import { RecentlySent } from '../sent/recently-sent.ts'
import { sentRoutes } from '../sent/routes.ts'
import type { Parts } from './parts.ts'

/** The role `api`: the operations of the mailbox. */
export function serveApi(kit: IngestKit, config: Config, parts: Parts): void {
  const { db, log, outbox } = kit
  const { hostname, publicUrl, callerKey, operator } = config
  const {
    blobs,
    bytes,
    writer,
    placement,
    sweeper,
    tenancy,
    acceptance,
    recipients,
    openImage,
    rates,
    storage,
    copySwitches: copies,
  } = parts
  const links = new DownloadLinks({ publicUrl, secret: config.linkSecret })
  const cursors = new Cursors(config.cursorSecret)
  const handOver = new LocalHandOver({
    db,
    blobs,
    writer,
    acceptance,
    recipients,
    copies,
    rates,
    storage,
    hostname,
    forwardMark: operator.mark,
    log,
  })
  const justSent = new RecentlySent({ db, mailSend: kit.peer('mail-send'), placement, log })
  kit.serve({
    callerKey,
    handlers: {
      ...mailboxRoutes({ db, outbox, cursors, links, justSent, sweep: sweeper.notify }),
      ...fileRoutes({ db, bytes, links }),
    },
    internal: {
      ...inboundRoutes(db),
      ...checkRoutes(kit, parts),
      'mail-ingest.purgeInbox': tenancy.purgeInbox,
      ...sentRoutes({ db, placement, handOver, openImage }),
      'mail-ingest.listDmarcCounts': ({ body }) => dmarcCounts.list(db, body),
      'mail-ingest.findMessages': async ({ body: { inbox_uid, message_ids } }) => ({
        message_ids: await existingMessages(db, inbox_uid, message_ids),
      }),
      'mail-ingest.getCalendarFiles': ({ body }) => calendarFiles({ db, bytes }, body),
      'mail-ingest.copyFiles': ({ body }) => copyFiles({ db, bytes, blobs, links }, body),
    },
  })
}

/** A process without the role only serves its health endpoints. */
export function serveNothing(kit: IngestKit): void {
  kit.listen({
    handle: async () => {
      throw notFound('Route')
    },
  })
}
