import type { ConfigOf, KitOf } from '@restante/kit'
import type { configuration } from './config.ts'
import { openFlow } from './open-flow.ts'
import { openPublic } from './open-public.ts'
import { operatorRoutes } from './operator/routes.ts'
import { unbuiltHandlers, unbuiltInternal } from './unbuilt.ts'

/** Serves the operations on apps and accounts, and what the gateway and its operator ask. */
export function openRoutes(kit: KitOf<typeof configuration>, config: ConfigOf<typeof configuration>): void {
  const { db, log } = kit
  const flow = openFlow(kit, config)
  kit.serve({
    callerKey: config.callerKey,
    handlers: { ...unbuiltHandlers, ...flow.handlers },
    internal: { ...unbuiltInternal, ...operatorRoutes({ db, log }) },
  })
  openPublic(kit, config, flow.publicRoutes)
}
