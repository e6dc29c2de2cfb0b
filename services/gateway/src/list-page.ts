import { pageSize } from '@restante/contracts'
import { type Cursors, pageOf } from '@restante/service'

/** Query members of a list by creation time. */
export interface ListQuery {
  readonly limit?: number | undefined
  readonly page_token?: string | undefined
  readonly ascending?: boolean | undefined
}

/** What a list is sorted by: creation time, ties by id (identity 1.4). */
export interface Sorted {
  readonly createdAt: Date
  readonly id: string
}

type Beyond<T> = { readonly lt: T } | { readonly gt: T }

/**
 * Rows behind one, as a condition of Prisma's. The bound on the time alone is implied by the other two; it is what lets
 * the index begin there.
 * @param idIs names the column of the id: `(bound) => ({ uid: bound })`.
 */
export function behind<Column>(after: Sorted, order: 'asc' | 'desc', idIs: (bound: Beyond<string>) => Column) {
  const beyond = <T>(value: T): Beyond<T> => (order === 'asc' ? { gt: value } : { lt: value })
  return {
    createdAt: order === 'asc' ? { gte: after.createdAt } : { lte: after.createdAt },
    OR: [{ createdAt: beyond(after.createdAt) }, idIs(beyond(after.id))],
  }
}

/** One page of a keyset list by creation time: where it begins, how it is ordered, how it is answered. */
export class ListPage {
  readonly order: 'asc' | 'desc'
  /** One row more than the page holds tells whether another page remains. */
  readonly take: number
  readonly #query: ListQuery
  readonly #size: number
  readonly #context: readonly unknown[]
  readonly #cursors: Cursors
  readonly #after: Sorted | undefined

  /**
   * @param context everything that a page token belongs to besides the direction: list, scope, filters.
   * @throws ApiError 400 at `page_token`
   */
  constructor(cursors: Cursors, context: readonly unknown[], query: ListQuery) {
    this.order = query.ascending === true ? 'asc' : 'desc'
    this.#query = query
    this.#size = pageSize(query.limit)
    this.take = this.#size + 1
    this.#cursors = cursors
    this.#context = [...context, this.order]
    this.#after = query.page_token === undefined ? undefined : this.#position(query.page_token)
  }

  /**
   * The rows behind the previous page.
   * @param idIs names the column of the id: `(bound) => ({ uid: bound })`.
   */
  where<Column>(idIs: (bound: Beyond<string>) => Column) {
    return this.#after === undefined ? {} : behind(this.#after, this.order, idIs)
  }

  /** Members of the answer besides the items, and the items themselves. */
  answer<Row, Item>(rows: Row[], sortedBy: (row: Row) => Sorted, item: (row: Row) => Item) {
    const page = pageOf(
      rows,
      this.#size,
      (position) => this.#cursors.seal(this.#context, position),
      (row) => [sortedBy(row).createdAt.getTime(), sortedBy(row).id],
    )
    return {
      items: page.items.map(item),
      members: { count: page.items.length, limit: this.#query.limit, next_page_token: page.next_page_token },
    }
  }

  #position(token: string): Sorted {
    const [at, id] = this.#cursors.open(this.#context, token)
    return { createdAt: new Date(Number(at)), id: String(id) }
  }
}
