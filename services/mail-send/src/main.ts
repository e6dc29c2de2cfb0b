import { openBlobStore } from '@restante/blobs'
import { defineService, runService } from '@restante/kit'
import { Cursors } from '@restante/service/http'
import { configuration } from './config.ts'
import { openDelivery } from './delivery/open-delivery.ts'
import { openFeedback } from './feedback/open-feedback.ts'
import { listRoutes } from './lists/routes.ts'
import { Sweeper } from './retention/sweeper.ts'
import { readDkimKeys } from './sending/content/dkim-keys.ts'
import { copyRoutes } from './sending/copies/routes.ts'
import { openSending } from './sending/open-sending.ts'
import { sendingRoutes } from './sending/routes.ts'
import { systemMailRoutes } from './system-mail/routes.ts'
import { SystemMail } from './system-mail/system-mail.ts'
import { openTenancy } from './tenancy/open-tenancy.ts'

/** Sending and outbound delivery. */
export const service = defineService({
  configuration,
  async assemble(kit, config) {
    const { db, kafka, log, outbox } = kit
    const { callerKey, defaultDomain: domain, systemSender: sender } = config
    const dkim = await readDkimKeys(config)
    const blobs = kit.use(await openBlobStore(config.blobStore))
    kit.use(new Sweeper({ db, blobs, log }))
    const tenancy = kit.use(openTenancy({ kafka, db, log, outbox, blobs }))
    const { content, outboundQueue } = openDelivery(kit, config, { blobs, dkim })
    kit.serve({
      callerKey,
      handlers: {
        ...sendingRoutes(openSending(kit, config, { blobs, outboundQueue, dkim })),
        ...listRoutes({ db, outbox, cursors: new Cursors(config.cursorSecret) }),
      },
      internal: {
        ...systemMailRoutes(new SystemMail({ db, content, outboundQueue, domain, sender, dkim })),
        ...copyRoutes(db),
        ...openFeedback(kit, config),
        'mail-send.purgeInbox': tenancy.purgeInbox,
      },
    })
  },
})

if (import.meta.main) await runService(service)
