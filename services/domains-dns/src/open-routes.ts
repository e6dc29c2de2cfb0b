import { Resolver } from 'node:dns/promises'
import type { Timers } from '@restante/jobs'
import type { ConfigOf, KitOf } from '@restante/kit'
import { KeyedMutex } from '@restante/service/concurrency'
import { Cursors } from '@restante/service/http'
import type { Certificates } from './certificates/open-certificates.ts'
import type { CheckTimers } from './checks/timers.ts'
import type { configuration } from './config.ts'
import type { KeyRing } from './keys/key-ring.ts'
import { domainInternalRoutes, domainRoutes } from './operations/routes.ts'
import { pendingRoutes } from './pending.ts'

interface Parts {
  readonly ring: KeyRing
  readonly timers: Timers<CheckTimers>
  readonly certificates: Certificates
}

/** Serves the operations on domains, and what other services ask about them. */
export function openRoutes(
  kit: KitOf<typeof configuration>,
  config: ConfigOf<typeof configuration>,
  { ring, timers, certificates }: Parts,
): void {
  const { db, outbox } = kit
  const { installation, sharedDomains, allowSpecialUse } = config
  const dns = new Resolver()
  if (config.dnsServers.length > 0) dns.setServers(config.dnsServers)
  const domains = domainRoutes({
    db,
    outbox,
    timers,
    certificates,
    ring,
    gateway: kit.peer('gateway'),
    dns,
    providers: undefined,
    installation,
    mutex: new KeyedMutex(),
    sharedDomains,
    allowSpecialUse,
    cursors: new Cursors(config.cursorSecret),
  })
  kit.serve({
    callerKey: config.callerKey,
    handlers: { ...domains, ...pendingRoutes },
    internal: { ...domainInternalRoutes({ db, ring, installation }), ...certificates.handlers },
  })
}
