import type { ConfigOf, KitOf } from '@restante/kit'
import { Cursors } from '@restante/service/http'
import type { Tenancy } from '@restante/tenancy'
import { calendarRoutes } from './calendars/routes.ts'
import { type ChangingDeps, changingRoutes } from './changing/routes.ts'
import type { configuration } from './config.ts'
import { feedRoutes } from './feed/routes.ts'
import { readingRoutes } from './reading/routes.ts'
import { tenancyRoutes } from './tenancy/open-tenancy.ts'

interface Parts {
  readonly changing: ChangingDeps
  readonly tenancy: Tenancy
  /** Further consumers of this service, for the check of missed events. */
  readonly consumers: Parameters<typeof tenancyRoutes>[1]
}

/** Serves the operations on calendars and their events, and what the gateway and its operator ask. */
export function openRoutes(
  kit: KitOf<typeof configuration>,
  config: ConfigOf<typeof configuration>,
  { changing, tenancy, consumers }: Parts,
): void {
  const { db, kafka, log } = kit
  const cursors = new Cursors(config.cursorSecret)
  kit.serve({
    callerKey: config.callerKey,
    handlers: {
      ...calendarRoutes({ db }),
      ...readingRoutes({ db, cursors, gateway: kit.peer('gateway') }),
      ...feedRoutes({ db, publicUrl: config.publicUrl }),
      ...changingRoutes(changing),
    },
    internal: tenancyRoutes(tenancy, consumers, { kafka, db, log }),
  })
}
