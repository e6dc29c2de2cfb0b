import type { Timers } from '@restante/jobs'
import type { ConfigOf, KitOf } from '@restante/kit'
import { KeyedMutex } from '@restante/service/concurrency'
import { Cursors } from '@restante/service/http'
import type { SecretBox } from '@restante/service/secrets'
import type { Tenancy } from '@restante/tenancy'
import { checkRoutes } from './checks/routes.ts'
import type { configuration } from './config.ts'
import type { TimerKinds } from './delivery/timers.ts'
import { Readings } from './requested/readings.ts'
import { logRoutes, retryRoutes } from './requested/routes.ts'
import { tenancyRoutes } from './tenancy/open-tenancy.ts'
import { webhookRoutes } from './webhooks/routes.ts'

interface Parts {
  readonly box: SecretBox
  readonly timers: Timers<TimerKinds>
  readonly tenancy: Tenancy
}

/** Serves the operations of webhooks, and what the gateway and its operator ask about them. */
export function openRoutes(
  kit: KitOf<typeof configuration>,
  config: ConfigOf<typeof configuration>,
  { box, timers, tenancy }: Parts,
): void {
  const { db, kafka, log } = kit
  const [gateway, mailIngest] = [kit.peer('gateway'), kit.peer('mail-ingest')]
  const requested = { db, kafka, log, timers, gateway, mailIngest, readings: new Readings() }
  kit.serve({
    callerKey: config.callerKey,
    handlers: {
      ...webhookRoutes({
        db,
        timers,
        mutex: new KeyedMutex(),
        gateway,
        box,
        cursors: new Cursors(config.cursorSecret),
        allowHttp: config.outbound.allow.http,
      }),
      ...retryRoutes(requested),
    },
    internal: {
      ...tenancyRoutes(tenancy, { db, timers }),
      ...logRoutes(requested),
      ...checkRoutes({ kafka, db, log, timers, tenancy }),
    },
  })
}
