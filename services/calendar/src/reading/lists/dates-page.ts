import type { OperationId } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError, invalid } from '@restante/service/errors'
import type { Cursors } from '@restante/service/http'
import { type Window, windowOf } from '../window/window.ts'

/** The query of a list of dates. */
export interface DatesQuery {
  readonly after?: Date | undefined
  readonly before?: Date | undefined
  readonly include_overlapping?: boolean | undefined
  readonly limit?: number | undefined
  readonly page_token?: string | undefined
}

/** The last item of a page. */
export interface DatePosition {
  readonly at: Date
  readonly id: string
}

/** Which dates are looked for. */
export interface DatesRange {
  readonly window: Window
  /** Whether dates count that began before the window and end in it. */
  readonly includeOverlapping: boolean
  /** Dates up to this place are left out. */
  readonly position: DatePosition | undefined
}

export interface DatesPageOptions {
  readonly operation: OperationId
  /** What the list is about. */
  readonly within: unknown
  readonly query: DatesQuery
  readonly now: Date
}

/**
 * One page of a list of dates. Its token carries the window, which begins with the present unless the request says
 * otherwise, and is bound to the list and to the query (calendar 8).
 */
export class DatesPage {
  readonly window: Window
  readonly isFirst: boolean
  readonly limit: number
  /** What is left of the window after the page before. */
  readonly range: DatesRange
  readonly #version: string | undefined
  readonly #cursors: Cursors
  readonly #context: readonly unknown[]

  /** @throws ApiError 400 for a window that cannot be, or at `page_token` when it was not issued for this list. */
  constructor(cursors: Cursors, { operation, within, query, now }: DatesPageOptions) {
    const { after, before, include_overlapping: overlapping = true, page_token: token } = query
    this.limit = Math.min(query.limit ?? LIMITS.page.default, LIMITS.page.max)
    this.isFirst = token === undefined
    this.#cursors = cursors
    this.#context = [operation, within, after ?? null, before ?? null, overlapping]
    const opened = token === undefined ? undefined : openedOf(cursors.open(this.#context, token))
    this.window = opened?.window ?? windowOf({ after, before }, now)
    this.#version = opened?.version
    const position = opened?.position
    // What overlaps the begin of the window comes first in a list.
    const isPast = position !== undefined && position.at >= this.window.after
    this.range = {
      window: isPast ? { ...this.window, after: position.at } : this.window,
      includeOverlapping: overlapping && !isPast,
      position,
    }
  }

  /** @throws ApiError 409 when what is listed has changed since the page before. */
  requireVersion(version: string): void {
    if (!this.isFirst && this.#version !== version) throw new ApiError('page_token_stale')
  }

  /**
   * The members of the answer beside its items.
   * @param last the last item, if more remain.
   */
  members(count: number, last: DatePosition | undefined, version = '') {
    const { after, before } = this.window
    const position = last && [last.at, after, before].map((time) => time.toISOString())
    return {
      count,
      limit: this.limit,
      ...(position && { next_page_token: this.#cursors.seal(this.#context, [...position, last.id, version]) }),
    }
  }
}

function openedOf([at, after, before, id, version]: readonly (string | number)[]) {
  const [last, from, to] = [at, after, before].map((time) => new Date(String(time)))
  if (last === undefined || from === undefined || to === undefined) throw invalid(['page_token'], 'Invalid page token')
  return {
    window: { after: from, before: to },
    position: { at: last, id: String(id) },
    version: String(version),
  }
}
