import type { ConfigOf, KitOf } from '@restante/kit'
import { Cursors } from '@restante/service/http'
import type { Tenancy } from '@restante/tenancy'
import { accountRoutes } from './accounts/routes.ts'
import { catalogRoutes } from './catalog/routes.ts'
import type { configuration } from './config.ts'
import { openFlow } from './open-flow.ts'
import { openProvider } from './open-provider.ts'
import { operatorRoutes } from './operator/routes.ts'
import { tenancyRoutes } from './tenancy/open-tenancy.ts'

/** Serves the operations on apps and accounts, and what the gateway and its operator ask. */
export function openRoutes(
  kit: KitOf<typeof configuration>,
  config: ConfigOf<typeof configuration>,
  tenancy: Tenancy,
): void {
  const { db, kafka, log, outbox } = kit
  const cursors = new Cursors(config.cursorSecret)
  const flow = openFlow(kit, config)
  kit.serve({
    callerKey: config.callerKey,
    handlers: { ...flow.handlers, ...catalogRoutes({ db, cursors }), ...accountRoutes({ db, outbox, cursors }) },
    internal: { ...operatorRoutes({ db, log }), ...tenancyRoutes(tenancy, { kafka, db, log }) },
  })
  openProvider(kit, config, flow)
}
