import { randomUUID } from 'node:crypto'
import { type InternalRequestOf, internalOperations } from '@restante/contracts/internal'
import type { Database } from '@restante/service/database'
import { append, type LogEntry, NO_EVENT } from './store.ts'

/** The request of an edge that shuts down, about the streams that it proxies. */
export type EdgeLeaves = InternalRequestOf<'websocket-fanout.drainConnections'>

/**
 * The edge cannot know which instance holds which of its streams, so it is announced to all of them through the log.
 */
export async function recordEdgeLeaves(
  { db, notify }: { db: Database; notify: () => void },
  leaves: EdgeLeaves,
): Promise<void> {
  const entry = { ...NO_EVENT, event_id: randomUUID(), kind: 'edge_leaves' as const, payload: JSON.stringify(leaves) }
  await db.transaction(async (tx) => {
    await append(tx, [entry])
    tx.afterCommit(notify)
  })
}

export function readEdgeLeaves({ payload }: LogEntry): EdgeLeaves {
  return internalOperations['websocket-fanout.drainConnections'].body.parse(JSON.parse(payload))
}
