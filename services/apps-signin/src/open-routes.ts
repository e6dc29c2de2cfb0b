import type { ConfigOf, KitOf } from '@restante/kit'
import { Cursors } from '@restante/service/http'
import type { Tenancy } from '@restante/tenancy'
import { accountRoutes } from './accounts/routes.ts'
import { catalogRoutes } from './catalog/routes.ts'
import type { configuration } from './config.ts'
import { operatorRoutes } from './operator/routes.ts'
import { tenancyRoutes } from './tenancy/open-tenancy.ts'
import { unbuiltHandlers } from './unbuilt.ts'

/** Serves the operations on apps and accounts, and what the gateway and its operator ask. */
export function openRoutes(
  kit: KitOf<typeof configuration>,
  config: ConfigOf<typeof configuration>,
  tenancy: Tenancy,
): void {
  const { db, kafka, log, outbox } = kit
  const cursors = new Cursors(config.cursorSecret)
  kit.serve({
    callerKey: config.callerKey,
    handlers: { ...unbuiltHandlers, ...catalogRoutes({ db, cursors }), ...accountRoutes({ db, outbox, cursors }) },
    internal: { ...operatorRoutes({ db, log }), ...tenancyRoutes(tenancy, { kafka, db, log }) },
  })
}
