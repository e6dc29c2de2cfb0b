import { deleteRows, type PurgeInBatches, rowDeletion } from '@restante/tenancy'
import { INBOX_TABLES, ORGANIZATION_TABLES } from './tables.ts'

/** Rows per table and transaction. */
const BATCH = 1_000

const OF_INBOX = INBOX_TABLES.map((table) => rowDeletion(table, 'inbox_uid'))
const OF_ORGANIZATION = ORGANIZATION_TABLES.map((table) => rowDeletion(table, 'organization_id'))

/**
 * Deletes what is stored of a deleted inbox: sign-ins in progress, consents, codes, tokens and accounts. That it has
 * signed up stays counted (apps 2), by a hash, until its organization is deleted. A pod has no data besides that of its
 * inboxes.
 */
export const purge: PurgeInBatches = {
  inbox: async (tx, inboxUid) => ((await deleteRows(tx, OF_INBOX, inboxUid, BATCH)) ? 'more' : 'ended'),
  organization: async (tx, id) => ((await deleteRows(tx, OF_ORGANIZATION, id, BATCH)) ? 'more' : 'ended'),
}
