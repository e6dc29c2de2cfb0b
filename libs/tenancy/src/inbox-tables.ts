import { type Queryable, type Statement, sql, type Tx } from '@restante/service/database'
import type { HeldInbox } from './list-inboxes.ts'

type Owner = 'inbox_uid' | 'organization_id'

/** Deletes so many rows of an inbox, or of an organization, at most. */
export type RowDeletion = Statement<{ deleted: number }, [id: string, rows: number]>

/** Deletes rows of a table by their owner: for tables whose rows have nothing else to be done with them. */
export function rowDeletion(table: string, column: Owner): RowDeletion {
  return sql(
    `with gone as (
       delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} = $1 limit $2)) returning 1)
     select count(*)::int as deleted from gone`,
  )
}

/** Deletes a batch of rows of each table. @returns whether one of them may have more. */
export async function deleteRows(
  tx: Tx,
  deletions: readonly RowDeletion[],
  id: string,
  rowsEach: number,
): Promise<boolean> {
  let more = false
  for (const statement of deletions) {
    const [row] = await tx.query(statement, id, rowsEach)
    if (row?.deleted === rowsEach) more = true
  }
  return more
}

/** A `HeldInbox`, whose columns PostgreSQL does not know to be set. */
type HeldRow = { readonly [Column in keyof HeldInbox]: string | null }

/**
 * Lists the inboxes of which any table has a row, by uid, after a uid.
 * @param tables each with the columns `inbox_uid` and `organization_id`; rows in which one of them is null do not count.
 * @param described those that also have the columns `pod_id` and `address`.
 */
export function heldInboxes(
  tables: readonly string[],
  described: readonly string[],
): (on: Queryable, after: string, rows: number) => Promise<HeldInbox[]> {
  const parts = tables.map((table) => {
    const more = described.includes(table) ? 'pod_id, address' : 'null::uuid as pod_id, null::text as address'
    return `(select distinct on (inbox_uid) inbox_uid, organization_id, ${more} from ${table}
              where inbox_uid > $1 and organization_id is not null order by inbox_uid limit $2)`
  })
  const held: Statement<HeldRow, [after: string, rows: number]> = sql(
    `select distinct on (inbox_uid) inbox_uid, organization_id, pod_id, address
       from (${parts.join(' union all ')}) as held
      order by inbox_uid, address nulls last limit $2`,
  )
  return async (on, after, rows) =>
    (await on.query(held, after, rows)).flatMap(({ inbox_uid, organization_id, ...row }) =>
      inbox_uid === null || organization_id === null ? [] : [{ ...row, inbox_uid, organization_id }],
    )
}
