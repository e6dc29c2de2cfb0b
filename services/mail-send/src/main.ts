import { openBlobStore } from '@restante/blobs'
import { Timers } from '@restante/jobs'
import { defineService, runService } from '@restante/kit'
import { Cursors } from '@restante/service/http'
import { configuration } from './config.ts'
import { openDelivery } from './delivery/open-delivery.ts'
import { openDrafts } from './drafts/open-drafts.ts'
import { openFeedback } from './feedback/open-feedback.ts'
import { DraftLinks } from './files/links.ts'
import { FileShelf } from './files/shelf.ts'
import { listRoutes } from './lists/routes.ts'
import { Sweeper } from './retention/sweeper.ts'
import { readDkimKeys } from './sending/content/dkim-keys.ts'
import { copyRoutes } from './sending/copies/routes.ts'
import { openAttachments, openSending } from './sending/open-sending.ts'
import { sendingRoutes } from './sending/routes.ts'
import { systemMailRoutes } from './system-mail/routes.ts'
import { SystemMail } from './system-mail/system-mail.ts'
import { openTenancy } from './tenancy/open-tenancy.ts'
import type { SendTimers } from './timers/kinds.ts'

/** Sending and outbound delivery. */
export const service = defineService({
  configuration,
  async assemble(kit, config) {
    const { db, kafka, log, outbox } = kit
    const { callerKey, defaultDomain: domain, systemSender } = config
    const dkim = await readDkimKeys(config)
    const blobs = kit.use(await openBlobStore(config.blobStore))
    kit.use(new Sweeper({ db, blobs, log }))
    const timers = kit.use(new Timers<SendTimers>({ db, redis: config.redis, log }))
    const tenancy = kit.use(openTenancy({ kafka, db, log, outbox, blobs, timers }))
    const { content, outboundQueue, routes } = openDelivery(kit, config, { blobs, dkim, timers })
    const links = new DraftLinks({ publicUrl: config.publicUrl, secret: config.linkSecret })
    const cursors = new Cursors(config.cursorSecret)
    const attachments = openAttachments(kit, config, { shelf: new FileShelf({ db, blobs }), links })
    const sender = openSending(kit, config, { blobs, outboundQueue, attachments, dkim })
    kit.serve({
      callerKey,
      handlers: {
        ...sendingRoutes(sender),
        ...openDrafts(kit, { timers, sender, attachments, blobs, cursors, links }),
        ...listRoutes({ db, outbox, cursors }),
      },
      internal: {
        ...systemMailRoutes(new SystemMail({ db, content, outboundQueue, domain, sender: systemSender, dkim })),
        ...copyRoutes(db),
        ...routes,
        ...openFeedback(kit, config),
        'mail-send.purgeInbox': tenancy.purgeInbox,
      },
    })
  },
})

if (import.meta.main) await runService(service)
