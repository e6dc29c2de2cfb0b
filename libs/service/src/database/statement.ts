import { createHash } from 'node:crypto'
import type pg from 'pg'

declare const shape: unique symbol

/**
 * A statement with the types of its rows and values. A named statement is prepared: PostgreSQL keeps a plan per
 * connection.
 */
export interface Statement<Row, Values extends readonly unknown[]> {
  readonly name?: string
  readonly text: string
  readonly [shape]?: { readonly row: Row; readonly values: Values }
}

/** Anything that runs statements: the pool (each statement commits by itself) or a transaction. */
export interface Queryable {
  query<Row, Values extends readonly unknown[]>(statement: Statement<Row, Values>, ...values: Values): Promise<Row[]>
}

/**
 * Most texts that one process prepares, several times the number that a service declares. Every connection keeps each
 * prepared text, some 10 KB, until it closes: without a bound, texts that are built from callers' parameters would fill
 * the database's memory.
 */
const MOST_PREPARED = 500
const prepared = new Set<string>()

let observer: ((text: string) => void) | undefined

/** For the check of all statements against the schema: calls `observe` with the text of each one that is declared. */
export function observeStatements(observe: (text: string) => void): void {
  observer = observe
}

/**
 * Declares a prepared statement. `Row` names its columns as `pg` returns them, `Values` its `$1, $2, ...` in order.
 * The name is derived from the text, so the same text is the same prepared statement on every connection. A process
 * prepares its first 500 texts; a statement beyond them works as well, and is planned each time.
 */
export function sql<Row, Values extends readonly unknown[] = []>(text: string): Statement<Row, Values> {
  observer?.(text)
  const name = createHash('sha1').update(text).digest('base64url').slice(0, 24)
  if (!prepared.has(name) && prepared.size >= MOST_PREPARED) return { text }
  prepared.add(name)
  return { name, text }
}

/**
 * Declares a statement that is planned on each execution, for two cases: a text that is built from callers' parameters,
 * of which there may be any number; and a table that is empty now and long in a minute, such as a queue, for which a
 * plan kept from the empty table would scan the whole long one.
 */
export function sqlUnprepared<Row, Values extends readonly unknown[] = []>(text: string): Statement<Row, Values> {
  observer?.(text)
  return { text }
}

/**
 * The same statement without a name, for connections that a pooler shares between clients: a name that one client has
 * prepared is unknown, or taken, at the connection that the next transaction gets. PostgreSQL plans it each time.
 */
export function unnamed<Row, Values extends readonly unknown[]>({
  text,
}: Statement<Row, Values>): Statement<Row, Values> {
  return { text }
}

/** Runs a statement on one `pg` client or pool. */
export async function execute<Row, Values extends readonly unknown[]>(
  client: pg.Pool | pg.ClientBase,
  statement: Statement<Row, Values>,
  values: Values,
): Promise<Row[]> {
  // pg cannot know the row's type: the statement declares it, and it is asserted here, once.
  const result = await client.query<Row & pg.QueryResultRow>({
    ...statement,
    values: [...values],
  })
  return result.rows
}
