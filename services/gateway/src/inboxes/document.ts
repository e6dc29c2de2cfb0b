import type { Inbox as InboxDocument } from '@restante/contracts/resources'
import type { Inbox } from '../generated/prisma/client.ts'
import { metadataFromRow } from './metadata.ts'

/** The columns of an inbox that are shown. */
export type ShownInbox = Pick<
  Inbox,
  'podId' | 'address' | 'displayName' | 'clientId' | 'status' | 'metadata' | 'createdAt' | 'updatedAt'
>

/** The record as the API shows it; unset members are omitted (identity 8.1). */
export function inboxDocument(row: ShownInbox): InboxDocument {
  const metadata = metadataFromRow(row.metadata)
  return {
    pod_id: row.podId,
    inbox_id: row.address,
    email: row.address,
    display_name: row.displayName ?? undefined,
    client_id: row.clientId ?? undefined,
    ...(row.status === 'paused' ? { status: 'paused' } : {}),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata: { ...metadata } }),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
