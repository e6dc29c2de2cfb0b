import { type Statement, sql, type Tx } from '@restante/service/database'
import type { BatchOutcome, PurgeInBatches } from '@restante/tenancy'
import { INBOX_TABLES, ORGANIZATION_TABLES } from './tables.ts'

/** Rows per table and transaction. */
const BATCH = 1_000

type Deletion = Statement<{ deleted: number }, [id: string, rows: number]>

const OF_INBOX = INBOX_TABLES.map((table) => deletion(table, 'inbox_uid'))
const OF_ORGANIZATION = ORGANIZATION_TABLES.map((table) => deletion(table, 'organization_id'))

/**
 * Deletes what is stored of a deleted inbox: sign-ins in progress, consents, codes, tokens and accounts. That it has
 * signed up stays counted (apps 2), by a hash, until its organization is deleted. A pod has no data besides that of its
 * inboxes.
 */
export const purge: PurgeInBatches = {
  inbox: (tx, inboxUid) => deleteBatches(tx, OF_INBOX, inboxUid),
  organization: (tx, organizationId) => deleteBatches(tx, OF_ORGANIZATION, organizationId),
}

async function deleteBatches(tx: Tx, deletions: readonly Deletion[], id: string): Promise<BatchOutcome> {
  let more = false
  for (const statement of deletions) {
    const [row] = await tx.query(statement, id, BATCH)
    if (row?.deleted === BATCH) more = true
  }
  return more ? 'more' : 'ended'
}

function deletion(table: string, column: 'inbox_uid' | 'organization_id'): Deletion {
  return sql(
    `with gone as (
       delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} = $1 limit $2)) returning 1)
     select count(*)::int as deleted from gone`,
  )
}
