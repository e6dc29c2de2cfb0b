import type { ConfigOf, KitOf } from '@restante/kit'
import type { configuration } from './config.ts'
import { operatorRoutes } from './operator/routes.ts'
import { unbuiltHandlers, unbuiltInternal } from './unbuilt.ts'

/** Serves the operations on apps and accounts, and what the gateway and its operator ask. */
export function openRoutes(kit: KitOf<typeof configuration>, config: ConfigOf<typeof configuration>): void {
  const { db, log } = kit
  kit.serve({
    callerKey: config.callerKey,
    handlers: { ...unbuiltHandlers },
    internal: { ...unbuiltInternal, ...operatorRoutes({ db, log }) },
  })
}
