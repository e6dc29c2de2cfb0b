import { type Queryable, sqlUnprepared } from '@restante/service/database'

/** Runs an unprepared statement of a suite. */
export function queryRows<Row>(db: Queryable, text: string, ...values: unknown[]): Promise<Row[]> {
  return db.query(sqlUnprepared<Row, unknown[]>(text), ...values)
}

/** The number of rows of a table: `countRows(db, 'messages where inbox_uid = $1', uid)`. */
export async function countRows(db: Queryable, from: string, ...values: unknown[]): Promise<number> {
  const [row] = await queryRows<{ count: number }>(db, `select count(*)::int as count from ${from}`, ...values)
  return row?.count ?? 0
}
