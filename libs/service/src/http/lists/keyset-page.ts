import type { OperationId } from '@restante/contracts/operations'
import { pageSize } from '@restante/contracts/schemas'
import type { Cursors } from './cursors.ts'

/** Query members that every list by keyset understands; the others are filters. */
export interface PageQuery {
  readonly limit?: number | undefined
  readonly page_token?: string | undefined
  readonly ascending?: boolean | undefined
}

/** The place of a row in a list: its time, ties by id, and before both its rank in a list that has ranks. */
export interface Position {
  readonly rank?: string
  readonly time: Date
  readonly id: string
}

export interface KeysetPageOptions {
  readonly operation: OperationId
  /** The rows that the list is about: the scope of the request, or the id of the parent. */
  readonly within: unknown
  readonly query: PageQuery
  /** Items on a page when the request asks for no number. Default: the default of the API. */
  readonly defaultSize?: number
}

/** The members of a list's answer, without its items (identity 1.4). */
export interface PageMembers {
  readonly count: number
  readonly limit: number | undefined
  readonly next_page_token: string | undefined
}

/**
 * One page of a list by keyset: where it begins, how it is ordered, and how it is answered. A page token is bound to the
 * operation, the rows that the list is about, the direction and every filter of the query, so that a token of one list
 * opens no other.
 */
export class KeysetPage {
  readonly ascending: boolean
  readonly order: 'asc' | 'desc'
  /** Rows to read: one more than the page holds, which shows whether another page remains. */
  readonly take: number
  /** The last row of the page before; `undefined` on the first page. */
  readonly after: Position | undefined
  readonly #size: number
  readonly #limit: number | undefined
  readonly #cursors: Cursors
  readonly #context: readonly unknown[]

  /** @throws ApiError 400 at `page_token` when the token was not issued for this list. */
  constructor(cursors: Cursors, { operation, within, query, defaultSize }: KeysetPageOptions) {
    const { limit, page_token: token, ascending = false, ...filters } = query
    this.ascending = ascending
    this.order = ascending ? 'asc' : 'desc'
    this.#size = limit ?? defaultSize ?? pageSize(undefined)
    this.#limit = limit
    this.take = this.#size + 1
    this.#cursors = cursors
    this.#context = [operation, within, this.order, filters]
    this.after = token === undefined ? undefined : positionOf(cursors.open(this.#context, token))
  }

  /**
   * Cuts the rows that were read into the page, and makes the members of its answer.
   * @param rows at most `take` of them, in the order of the list.
   * @param found how many rows there were, where those were left out that the answer has no room for: the next page begins
   *   with them. Default: as many as there are.
   */
  answer<Row, Item>(
    rows: readonly Row[],
    position: (row: Row) => Position,
    item: (row: Row) => Item,
    found = rows.length,
  ): { items: Item[]; members: PageMembers } {
    const shown = rows.slice(0, this.#size)
    const last = shown.at(-1)
    const more = last !== undefined && shown.length < found
    return {
      items: shown.map(item),
      members: {
        count: shown.length,
        limit: this.#limit,
        next_page_token: more ? this.#seal(position(last)) : undefined,
      },
    }
  }

  #seal({ time, id, rank }: Position): string {
    return this.#cursors.seal(this.#context, [time.toISOString(), id, ...(rank === undefined ? [] : [rank])])
  }
}

function positionOf([time, id, rank]: readonly (string | number)[]): Position {
  return { time: new Date(String(time)), id: String(id), ...(rank !== undefined && { rank: String(rank) }) }
}
