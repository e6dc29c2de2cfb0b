import { RESTRICTED_LABELS, type RestrictedLabel } from '@restante/contracts/vocabulary'
import { type Queryable, sql, sqlUnprepared } from '@restante/service/database'
import type { KeysetPage, Position } from '@restante/service/http'

/** Must be the same text as in the partial indexes of the default view; otherwise PostgreSQL does not use them. */
export const DEFAULT_VIEW = `not (labels && array['spam', 'blocked', 'unauthenticated', 'trash'])`

/** What a list shows. */
export interface Listed<Row> {
  readonly from: string
  readonly columns: string
  readonly bytes: string
  /** Exists for the compiler alone. */
  readonly row?: Row
}

/**
 * @param from a table, or a subquery with its name. It has the columns `id` and `timestamp`.
 * @param columns those that are shown.
 * @param bytes about how many bytes a row takes in the answer, by its columns whose lengths senders determine.
 */
export function listed<Row>(from: string, columns: string, bytes: string): Listed<Row> {
  return { from, columns, bytes }
}

/**
 * Bytes of a page. A page that reaches it has fewer items, and its token continues after them (identity 1.4). One item may have
 * a megabyte.
 */
export const PAGE_BYTES = 10 * 1024 * 1024

/** Rows of a page: with `found`, how many there were before it was cut. */
export type Measured<Row> = Row & { readonly found: number }

/**
 * The first of these rows that one answer has room for.
 * @param rows a query of the columns and of `bytes`, which each row takes.
 * @param inOrder the order of the rows.
 */
export function fitting(columns: string, rows: string, inOrder: string): string {
  return `
select ${columns}, found
  from (select *, (count(*) over ())::int as found, row_number() over in_order as number, sum(bytes) over in_order as total
          from (${rows}) as page
        window in_order as (${inOrder} rows unbounded preceding)) as measured
 where number = 1 or total <= ${PAGE_BYTES} ${inOrder}`
}

/** So many rows are compared with labels and texts one by one, before the index is asked for all that match. */
const COMPARED = 2_000

/** Conditions of one list request; every value is a parameter. */
export class ListConditions {
  readonly #clauses: string[] = []
  /** Conditions on labels and texts, which an index can find, but not in the order of the list. */
  readonly #filters: string[] = []
  readonly #values: unknown[] = []
  /** The filters of callers lead to too many different texts for a connection to keep a prepared plan of each. */
  #isFiltered = false

  /** @param condition builds the clause from the parameter's name: `$3`. */
  add(condition: (parameter: string) => string, value: unknown): this {
    this.#values.push(value)
    this.#clauses.push(condition(`$${this.#values.length}`))
    return this
  }

  #filterBy(condition: (parameter: string) => string, value: unknown, clauses = this.#clauses): this {
    this.#isFiltered = true
    this.#values.push(value)
    clauses.push(condition(`$${this.#values.length}`))
    return this
  }

  /** Excludes items with one of these labels. */
  hide(labels: readonly RestrictedLabel[]): this {
    if (labels.length === 0) return this
    if (labels.length < RESTRICTED_LABELS.length) return this.add((list) => `not (labels && ${list}::text[])`, labels)
    this.#clauses.push(DEFAULT_VIEW)
    return this
  }

  /** Excludes items that are still being purged after their inbox was deleted (identity 10.2). */
  alive(): this {
    this.#clauses.push("inbox_uid not in (select id from deleted_scopes where kind = 'inbox' and ended_at is null)")
    return this
  }

  /** Requires all labels, and strict bounds of time (mail 1, 4.3). */
  filter(query: { labels?: string[] | undefined; before?: Date | undefined; after?: Date | undefined }): this {
    const { labels, before, after } = query
    if (labels !== undefined && labels.length > 0)
      this.#filterBy((list) => `labels @> ${list}::text[]`, labels, this.#filters)
    if (before) this.#filterBy((time) => `"timestamp" < ${time}::timestamptz`, before.toISOString())
    if (after) this.#filterBy((time) => `"timestamp" > ${time}::timestamptz`, after.toISOString())
    return this
  }

  /** Every value must occur in the column, ignoring case. Only the first can use a trigram index. */
  contains(column: string, values: readonly string[] = []): this {
    const [first, ...others] = values.map(pattern)
    if (first === undefined) return this
    this.#filterBy((text) => `${column} ilike ${text}`, first, this.#filters)
    if (others.length === 0) return this
    return this.#filterBy((list) => `${column} ilike all(${list}::text[])`, others, this.#filters)
  }

  /** The rows of a page, in keyset order by newest activity or date, ties by id; no more of them than one answer has room for. */
  async page<Row>(
    db: Queryable,
    { from, columns, bytes }: Listed<Row>,
    { after, order, take }: KeysetPage,
  ): Promise<Measured<Row>[]> {
    if (after) {
      this.#values.push(after.time.toISOString(), after.id)
      const [time, tie] = [`$${this.#values.length - 1}::timestamptz`, `$${this.#values.length}::uuid`]
      this.#clauses.push(`("timestamp", id) ${order === 'asc' ? '>' : '<'} (${time}, ${tie})`)
    }
    this.#values.push(take)
    const inOrder = `order by "timestamp" ${order}, id ${order}`
    const first = `${inOrder} limit $${this.#values.length}`
    const select = `select ${columns}, ${bytes} as bytes from ${from}`
    const conditions = this.#clauses.join(' and ')
    if (this.#filters.length === 0) {
      return this.#query(db, fitting(columns, `${select} where ${conditions}\n ${first}`, inOrder))
    }
    const filters = this.#filters.join(' and ')
    const best = (among: string, before = '') =>
      `${before}${fitting(columns, `${select} join (select id from ${among} ${first}) as best using (id)`, inOrder)}`
    const next = `(select * from ${from} where ${conditions} ${inOrder} limit ${COMPARED}) as next`
    const rows = await this.#query<Measured<Row>>(db, best(`${next} where ${filters}`))
    if (rows[0]?.found === take) return rows
    // Few of them match. The planner would not know it, and might compare all rows one by one: it takes any short text for
    // frequent, and a label that is frequent elsewhere.
    const matches = `select id, "timestamp" from ${from} where ${conditions} and ${filters}`
    return this.#query(db, best('matches', `with matches as materialized (${matches}) `))
  }

  #query<Row>(db: Queryable, text: string): Promise<Row[]> {
    const statement = this.#isFiltered ? sqlUnprepared<Row, unknown[]>(text) : sql<Row, unknown[]>(text)
    return db.query(statement, ...this.#values)
  }
}

/** The position of a message or a thread in its list. */
export function byTimestamp({ timestamp, id }: { readonly timestamp: Date; readonly id: string }): Position {
  return { time: timestamp, id }
}

function pattern(value: string): string {
  return `%${value.replace(/[\\%_]/g, '\\$&')}%`
}
