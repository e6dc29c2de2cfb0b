import { defineService, runService } from '@restante/kit'
import { SecretBox } from '@restante/service/secrets'
import { configuration } from './config.ts'
import { WebhookBacklog } from './delivery/backlog.ts'
import { publicEventsConsumer } from './delivery/consumers.ts'
import { deliveryTimers } from './delivery/worker.ts'
import { LogSweeper } from './log/sweeper.ts'
import { openRoutes } from './open-routes.ts'
import { openTenancy } from './tenancy/open-tenancy.ts'

/** Webhook subscriptions, and the signed delivery of every event that one of them matches. */
export const service = defineService({
  configuration,
  assemble(kit, config) {
    const { db, kafka, log } = kit
    const { redis, dnsServers, deliveryConcurrency: concurrency } = config
    const box = new SecretBox(config.encryptionKey, 'webhook secrets')
    const outbound = kit.fetcher({ ...config.outbound, dnsServers })
    const [gateway, mailIngest] = [kit.peer('gateway'), kit.peer('mail-ingest')]
    const timers = kit.use(deliveryTimers({ db, redis, log, outbound, box, gateway, mailIngest, concurrency }))
    kit.use(new LogSweeper({ db, log }))
    kit.use(new WebhookBacklog({ db, log }))
    kit.use(publicEventsConsumer({ kafka, db, timers, concurrency }))
    const tenancy = kit.use(openTenancy({ kafka, db, log, timers }))
    openRoutes(kit, config, { box, timers, tenancy })
  },
})

if (import.meta.main) await runService(service)
