import { createHash } from 'node:crypto'
import type pg from 'pg'

declare const shape: unique symbol

/** A statement with the types of its rows and values. With a name it is prepared: PostgreSQL keeps a plan per connection. */
export interface Statement<Row, Values extends readonly unknown[]> {
  readonly name?: string
  readonly text: string
  readonly [shape]?: { readonly row: Row; readonly values: Values }
}

/** Whatever runs statements: the pool (each statement commits by itself) or a transaction. */
export interface Queryable {
  query<Row, Values extends readonly unknown[]>(statement: Statement<Row, Values>, ...values: Values): Promise<Row[]>
}

/**
 * Declares a prepared statement. `Row` names its columns as `pg` returns them, `Values` its `$1, $2, ...` in order.
 * The name is derived from the text, so the same text is the same prepared statement on every connection.
 */
export function sql<Row, Values extends readonly unknown[] = []>(text: string): Statement<Row, Values> {
  return { name: createHash('sha1').update(text).digest('base64url').slice(0, 24), text }
}

/**
 * Declares a statement that is planned each time, for tables that are empty now and long in a minute, such as queues: the
 * plan that was kept from the empty table would read all of the long one at each step.
 */
export function sqlPlannedAnew<Row, Values extends readonly unknown[] = []>(text: string): Statement<Row, Values> {
  return { text }
}

/** Runs a statement on one `pg` client or pool. */
export async function execute<Row, Values extends readonly unknown[]>(
  client: pg.Pool | pg.ClientBase,
  statement: Statement<Row, Values>,
  values: Values,
): Promise<Row[]> {
  // The statement carries the row's type as a declaration; pg cannot know it, so this is where it is asserted, once.
  const result = await client.query<Row & pg.QueryResultRow>({
    ...statement,
    values: [...values],
  })
  return result.rows
}
