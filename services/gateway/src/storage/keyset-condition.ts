import type { Position } from '@restante/service/http'

type Beyond<T> = { readonly lt: T } | { readonly gt: T }

/**
 * The rows after a position of a list by creation time, as a condition of Prisma's; all rows without a position. The
 * bound on the time alone is implied by the other two; it is what lets the index begin there.
 * @param idIs names the column of the id: `(bound) => ({ uid: bound })`.
 */
export function behind<Column>(
  after: Position | undefined,
  order: 'asc' | 'desc',
  idIs: (bound: Beyond<string>) => Column,
) {
  if (after === undefined) return {}
  const beyond = <T>(value: T): Beyond<T> => (order === 'asc' ? { gt: value } : { lt: value })
  return {
    createdAt: order === 'asc' ? { gte: after.time } : { lte: after.time },
    OR: [{ createdAt: beyond(after.time) }, idIs(beyond(after.id))],
  }
}

/** The position of a row in a list by creation time, ties by id (identity 1.4). */
export function byCreation({ createdAt, id }: { readonly createdAt: Date; readonly id: string }): Position {
  return { time: createdAt, id }
}
