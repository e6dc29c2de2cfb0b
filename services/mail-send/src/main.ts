import { openBlobStore } from '@restante/blobs'
import { defineService, runService } from '@restante/kit'
import { Tenancy } from '@restante/tenancy'
import { configuration } from './config.ts'
import { openDelivery } from './delivery/open-delivery.ts'
import { openFeedback } from './feedback/open-feedback.ts'
import { Sweeper } from './retention/sweeper.ts'
import { readDkimKey } from './sending/content/dkim-key.ts'
import { copyRoutes } from './sending/copies/routes.ts'
import { openSending } from './sending/open-sending.ts'
import { sendingRoutes } from './sending/routes.ts'
import { systemMailRoutes } from './system-mail/routes.ts'
import { SystemMail } from './system-mail/system-mail.ts'
import { SendPurge } from './tenancy/purge.ts'

/** Sending and outbound delivery. */
export const service = defineService({
  configuration,
  async assemble(kit, config) {
    const { db, kafka, log } = kit
    const { callerKey, defaultDomain: domain, systemSender: sender } = config
    const dkim = await readDkimKey(config)
    const blobs = kit.use(await openBlobStore(config.blobStore))
    kit.use(new Sweeper({ db, blobs, log }))
    const tenancy = kit.use(new Tenancy({ service: kit.name, kafka, db, log, purge: new SendPurge(blobs) }))
    const { content, outboundQueue } = openDelivery(kit, config, blobs)
    kit.serve({
      callerKey,
      handlers: sendingRoutes(openSending(kit, config, { blobs, outboundQueue, dkim })),
      internal: {
        ...systemMailRoutes(new SystemMail({ db, content, outboundQueue, domain, sender, dkim })),
        ...copyRoutes(db),
        ...openFeedback(kit),
        'mail-send.purgeInbox': tenancy.purgeInbox,
      },
    })
  },
})

if (import.meta.main) await runService(service)
