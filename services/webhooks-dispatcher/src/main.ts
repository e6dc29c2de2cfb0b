import { defineService, runService } from '@restante/kit'
import { Cursors, KeyedMutex, SecretBox } from '@restante/service'
import { configuration } from './config.ts'
import { publicEventsConsumer } from './delivery/consumers.ts'
import { deliveryTimers } from './delivery/worker.ts'
import { tenancyConsumer } from './tenancy/consumers.ts'
import { tenancyRoutes } from './tenancy/routes.ts'
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
    kit.use(publicEventsConsumer({ kafka, db, timers }))
    kit.use(tenancyConsumer({ kafka, db, timers }))
    const webhooks = {
      db,
      mutex: new KeyedMutex(),
      gateway: kit.peer('gateway'),
      box,
      cursors: new Cursors(config.cursorSecret),
      allowHttp: config.outbound.allow.http,
    }
    kit.serve({ callerKey, handlers: webhookRoutes(webhooks), internal: tenancyRoutes({ db, timers }) })
  },
})

if (import.meta.main) await runService(service)
