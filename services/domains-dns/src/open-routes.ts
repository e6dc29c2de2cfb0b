import type { Timers } from '@restante/jobs'
import { type ConfigOf, checkHandler, type KitOf } from '@restante/kit'
import { missedEventsCheck, outboxCheck } from '@restante/messaging'
import { KeyedMutex } from '@restante/service/concurrency'
import { Cursors } from '@restante/service/http'
import type { KeyRing } from '@restante/service/secrets'
import type { Tenancy } from '@restante/tenancy'
import type { Certificates } from './certificates/open-certificates.ts'
import { openChecks } from './checks/open-checks.ts'
import type { CheckTimers } from './checks/timers.ts'
import type { configuration } from './config.ts'
import { Resolvers } from './dns/resolvers.ts'
import { domainInternalRoutes, domainRoutes } from './operations/routes.ts'
import { operatorRoutes } from './operator/routes.ts'
import { openSetup } from './setup/open-setup.ts'

interface Parts {
  readonly ring: KeyRing
  readonly timers: Timers<CheckTimers>
  readonly certificates: Certificates
  readonly tenancy: Tenancy
}

/** Serves the operations on domains, and what other services ask about them. */
export async function openRoutes(
  kit: KitOf<typeof configuration>,
  config: ConfigOf<typeof configuration>,
  { ring, timers, certificates, tenancy }: Parts,
): Promise<void> {
  const { db, kafka, log, outbox } = kit
  const { installation, sharedDomains, allowSpecialUse } = config
  const dns = new Resolvers({ servers: config.dnsServers })
  const domains = domainRoutes({
    db,
    outbox,
    timers,
    certificates,
    ring,
    gateway: kit.peer('gateway'),
    dns,
    providers: config.mailboxProviders,
    installation,
    mutex: new KeyedMutex(),
    sharedDomains,
    allowSpecialUse,
    cursors: new Cursors(config.cursorSecret),
  })
  const setup = await openSetup(kit, config, { dns, timers })
  const checks = openChecks(
    {
      db,
      timers,
      ring,
      outbox,
      installation,
      resolvers: dns,
      providers: config.mailboxProviders,
      checked: certificates.checked,
    },
    config,
  )
  kit.serve({
    callerKey: config.callerKey,
    handlers: { ...domains, ...setup.handlers, ...checks },
    internal: {
      ...domainInternalRoutes({ db, ring, installation }),
      ...operatorRoutes({ db, log, outbox, timers, installation }),
      ...setup.internal,
      ...certificates.handlers,
      'domains-dns.check': checkHandler(
        { service: 'domains-dns', log },
        { outbox: outboxCheck(db), events: missedEventsCheck({ kafka, db, consumers: [tenancy.consumer] }) },
      ),
    },
  })
}
