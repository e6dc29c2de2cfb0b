import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { recordEdgeLeaves } from './edge-leaves.ts'

/** What the gateway asks of the streams that it pipes. */
export function streamRoutes(deps: { db: Database; notify: () => void }): InternalHandlers<'websocket-fanout'> {
  return {
    'websocket-fanout.drainConnections': async ({ body }) => {
      await recordEdgeLeaves(deps, body)
      return {}
    },
  }
}
