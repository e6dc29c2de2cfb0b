import { defineService, runService } from '@restante/kit'
import { KeyedMutex } from '@restante/service/concurrency'
import { Cursors } from '@restante/service/http'
import { SecretBox } from '@restante/service/secrets'
import { configuration } from './config.ts'
import { publicEventsConsumer } from './delivery/consumers.ts'
import { deliveryTimers } from './delivery/worker.ts'
import { LogSweeper } from './log/sweeper.ts'
import { openTenancy, tenancyRoutes } from './tenancy/open-tenancy.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/** Webhook subscriptions, and the signed delivery of every event that one of them matches. */
export const service = defineService({
  configuration,
  assemble(kit, config) {
    const { db, kafka, log } = kit
    const { redis, deliveryConcurrency: concurrency, callerKey } = config
    const box = new SecretBox(config.encryptionKey, 'webhook secrets')
    const outbound = kit.fetcher(config.outbound)
    const timers = kit.use(deliveryTimers({ db, redis, log, outbound, box, concurrency }))
    kit.use(new LogSweeper({ db, log }))
    kit.use(publicEventsConsumer({ kafka, db, timers }))
    const tenancy = kit.use(openTenancy({ kafka, db, log, timers }))
    const webhooks = {
      db,
      timers,
      mutex: new KeyedMutex(),
      gateway: kit.peer('gateway'),
      box,
      cursors: new Cursors(config.cursorSecret),
      allowHttp: config.outbound.allow.http,
    }
    kit.serve({ callerKey, handlers: webhookRoutes(webhooks), internal: tenancyRoutes(tenancy, { db, timers }) })
  },
})

if (import.meta.main) await runService(service)
