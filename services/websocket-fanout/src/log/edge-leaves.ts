import { randomUUID } from 'node:crypto'
import { type InternalRequestOf, internalOperations } from '@restante/contracts/internal'
import type { Database } from '@restante/service/database'
import { append, type LogEntry } from './store.ts'

/** The request of an edge that shuts down, about the streams that it proxies. */
export type EdgeLeaves = InternalRequestOf<'websocket-fanout.drainConnections'>

/**
 * The edge cannot know which instance holds which of its streams, so it is announced to all of them through the log.
 */
export async function recordEdgeLeaves(
  { db, notify }: { db: Database; notify: () => void },
  leaves: EdgeLeaves,
): Promise<void> {
  const entry = {
    event_id: randomUUID(),
    kind: 'edge_leaves' as const,
    type: null,
    organization_id: null,
    pod_id: null,
    inbox_uid: null,
    credential_id: null,
    restricted: [],
    payload: JSON.stringify(leaves),
  }
  await db.transaction(async (tx) => {
    await append(tx, [entry])
    tx.afterCommit(notify)
  })
}

export function readEdgeLeaves({ payload }: LogEntry): EdgeLeaves {
  return internalOperations['websocket-fanout.drainConnections'].body.parse(JSON.parse(payload))
}
