import { defineService, runService } from '@restante/kit'
import { accountsConsumer } from './audit/consumers.ts'
import { configuration } from './config.ts'
import { Secrets } from './credentials/secrets.ts'
import { KeyLookup } from './edge/authentication/key-lookup.ts'
import { SystemSenderCheck } from './inboxes/names/system-sender.ts'
import { openEdge } from './open-edge.ts'
import { openTimers } from './open-timers.ts'
import { ownOperations } from './own-operations.ts'
import { openDatabase } from './storage/database.ts'
import { TenancyEvents } from './tenancy/events.ts'

/** The public edge, and the owner of identities and permissions. */
export const service = defineService({
  configuration,
  openDatabase,
  assemble(kit, config) {
    const { db, log, outbox } = kit
    const { region } = config.credentials
    kit.use(new SystemSenderCheck({ db, address: config.addresses.systemSender.address, log }))
    const secrets = new Secrets(config.credentials)
    const keys = new KeyLookup({ db, secrets, region, otherRegionUrl: config.otherRegionUrl })
    const events = new TenancyEvents(outbox, (organizationId) => keys.forget(organizationId))
    kit.use(accountsConsumer(kit))
    const timers = openTimers(kit, config, { secrets, events })
    const handlers = ownOperations(kit, config, { secrets, events, timers })
    openEdge(kit, config, { keys, secrets, handlers, events })
  },
})

if (import.meta.main) await runService(service)
