import type { Database, InternalHandlers } from '@restante/service'
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
