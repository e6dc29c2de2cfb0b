import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { recordEdgeLeaves } from './edge-leaves.ts'
import { recordTakeOver } from './take-overs.ts'

/** What the gateway asks about streams: to move those that it pipes, to end those of earlier keys. */
export function streamRoutes(deps: { db: Database; notify: () => void }): InternalHandlers<'websocket-fanout'> {
  return {
    'websocket-fanout.drainConnections': async ({ body }) => {
      await recordEdgeLeaves(deps, body)
      return {}
    },
    'websocket-fanout.endStreams': async ({ body }) => {
      await deps.db.transaction(async (tx) => {
        await recordTakeOver(tx, body)
        tx.afterCommit(deps.notify)
      })
      return {}
    },
  }
}
