import type { ConfigOf, KitOf } from '@restante/kit'
import type { Tenancy } from '@restante/tenancy'
import type { Comparer } from './comparison/comparer.ts'
import { comparisonRoutes } from './comparison/routes.ts'
import type { configuration } from './config.ts'
import { showRoutes } from './operator/show.ts'
import { readingRoutes } from './reading/routes.ts'
import type { Rebuilder } from './rebuild/rebuilder.ts'
import { rebuildRoutes } from './rebuild/routes.ts'
import { type Followed, tenancyRoutes } from './tenancy/open-tenancy.ts'

interface Parts {
  readonly tenancy: Tenancy
  /** Further consumers of this service, for the check of missed events. */
  readonly consumers: readonly Followed[]
  readonly rebuilder: Rebuilder
  readonly comparer: Comparer
}

/** Serves the metrics, and what the gateway and its operator ask. */
export function openRoutes(
  kit: KitOf<typeof configuration>,
  { callerKey }: ConfigOf<typeof configuration>,
  { tenancy, consumers, rebuilder, comparer }: Parts,
): void {
  const { db, kafka, log } = kit
  kit.serve({
    callerKey,
    handlers: readingRoutes(db),
    internal: {
      ...tenancyRoutes(tenancy, { kafka, db, log, consumers }),
      ...showRoutes(db),
      ...rebuildRoutes(db, rebuilder),
      ...comparisonRoutes(comparer),
    },
  })
}
