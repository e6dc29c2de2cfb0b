import { defineService, runService } from '@restante/kit'
import { Comparer } from './comparison/comparer.ts'
import { configuration } from './config.ts'
import { deliveriesConsumer, domainsConsumer, factsConsumer } from './counting/consumers.ts'
import { openRoutes } from './open-routes.ts'
import { Rebuilder } from './rebuild/rebuilder.ts'
import { ArrivalsGauge } from './series/backlog.ts'
import { RetentionSweeper } from './series/retention.ts'
import { Settler } from './series/settle.ts'
import { openTenancy } from './tenancy/open-tenancy.ts'

/** What happened, what is stored and what came back of sent mail, over time: a projection of the topics of the others. */
export const service = defineService({
  configuration,
  assemble(kit, config) {
    const { db, kafka, log } = kit
    kit.use(new Settler({ db, log }))
    kit.use(new ArrivalsGauge({ db, log }))
    kit.use(new RetentionSweeper({ db, log }))
    const facts = kit.use(factsConsumer({ kafka, db }))
    const deliveries = kit.use(deliveriesConsumer({ kafka, db }))
    const domains = kit.use(domainsConsumer({ kafka, db }))
    const tenancy = kit.use(openTenancy({ kafka, db, log }))
    const rebuilder = kit.use(new Rebuilder({ kafka, db, log }))
    const peers = {
      gateway: kit.peer('gateway'),
      mailIngest: kit.peer('mail-ingest'),
      mailSend: kit.peer('mail-send'),
      domainsDns: kit.peer('domains-dns'),
    }
    const consumers = [tenancy.consumer, facts, deliveries, domains]
    const comparer = kit.use(new Comparer({ kafka, db, log, peers, consumers }))
    openRoutes(kit, config, { tenancy, consumers: [facts, deliveries, domains], rebuilder, comparer })
  },
})

if (import.meta.main) await runService(service)
