import { openBlobStore } from '@restante/blobs'
import { Timers } from '@restante/jobs'
import { defineService, runService } from '@restante/kit'
import { Cursors } from '@restante/service/http'
import { checkRoutes } from './checks/routes.ts'
import { configuration } from './config.ts'
import { openDelivery } from './delivery/open-delivery.ts'
import { readSenderRoutes } from './delivery/routes/smarthosts/sender-routes.ts'
import { openDomains } from './domains/open-domains.ts'
import { openDrafts } from './drafts/open-drafts.ts'
import { openFeedback } from './feedback/open-feedback.ts'
import { openInvitations } from './invitations/open-invitations.ts'
import { listEntryRoutes } from './lists/internal-routes.ts'
import { listRoutes } from './lists/routes.ts'
import { openReputation } from './reputation/open-reputation.ts'
import { Sweeper } from './retention/sweeper.ts'
import { readDkimKeys } from './sending/content/dkim-keys.ts'
import { copyRoutes } from './sending/copies/routes.ts'
import { openSending } from './sending/open-sending.ts'
import { sendingRoutes } from './sending/routes.ts'
import { openSystemMail } from './system-mail/open-system-mail.ts'
import { openTenancy } from './tenancy/open-tenancy.ts'
import type { SendTimers } from './timers/kinds.ts'

/** Sending and outbound delivery. */
export const service = defineService({
  configuration,
  async assemble(kit, config) {
    const { db, kafka, log, outbox } = kit
    const dkim = await readDkimKeys(config)
    const senderRoutes = await readSenderRoutes(config.delivery.senderRoutesFile)
    const blobs = kit.use(await openBlobStore(config.blobStore))
    kit.use(new Sweeper({ db, blobs, log }))
    const timers = kit.use(new Timers<SendTimers>({ db, redis: config.redis, log }))
    const tenancy = kit.use(openTenancy({ kafka, db, log, outbox, blobs, timers }))
    const delivery = openDelivery(kit, config, { blobs, dkim, timers, senderRoutes })
    const domains = openDomains(kit, config, dkim)
    const sending = openSending(kit, config, { blobs, outboundQueue: delivery.outboundQueue, domains })
    openReputation(kit, config)
    const feedback = openFeedback(kit, config)
    const cursors = new Cursors(config.cursorSecret)
    kit.serve({
      callerKey: config.callerKey,
      handlers: {
        ...sendingRoutes(sending.sender),
        ...openDrafts(kit, { ...sending, timers, blobs, cursors }),
        ...listRoutes({ db, outbox, cursors }),
      },
      internal: {
        ...openSystemMail(kit, config, delivery, { dkim, blobs }),
        ...openInvitations(kit, { ...sending, domains }),
        ...copyRoutes(db),
        ...listEntryRoutes(db),
        ...delivery.routes,
        ...sending.routes,
        ...feedback.routes,
        ...checkRoutes(kit, { blobs, timers, tenancy, queue: delivery.deliveryQueue, feedback: feedback.consumer }),
        'mail-send.purgeInbox': tenancy.purgeInbox,
      },
    })
  },
})

if (import.meta.main) await runService(service)
