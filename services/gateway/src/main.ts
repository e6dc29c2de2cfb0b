import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'
import { Secrets } from './credentials/secrets.ts'
import { openDatabase } from './database.ts'
import { KeyLookup } from './edge/key-lookup.ts'
import { openEdge } from './edge/open-edge.ts'
import { SystemSenderCheck } from './inboxes/system-sender.ts'
import { openTimers } from './open-timers.ts'
import { ownOperations } from './own-operations.ts'
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
    const timers = openTimers(kit, config, { secrets, events })
    const handlers = ownOperations(kit, config, { secrets, events, timers })
    openEdge(kit, config, { keys, handlers })
  },
})

if (import.meta.main) await runService(service)
