import type { Tx } from '@restante/service/database'
import { dateAt } from '../dates/index.ts'
import { dateDocument, eventDocument } from '../documents/index.ts'
import { tellChange } from '../events/index.ts'
import type { EventState } from '../model/rows.ts'
import { saveState } from '../store/index.ts'
import { scheduleBoundary } from '../timers/boundary.ts'
import { editDates as edited, type SingleEdit } from './transitions/index.ts'
import type { WriteDeps } from './writes.ts'

export type { SingleEdit } from './transitions/index.ts'

/**
 * Changes several dates of a series, each another one, and tells of each: as `editDate` does one after the other, stored at
 * once.
 * @throws ApiError as `editDate` does.
 */
export async function editDates(
  tx: Tx,
  deps: WriteDeps,
  before: EventState,
  changes: readonly SingleEdit[],
): Promise<EventState> {
  const [first] = changes
  if (first === undefined) return before
  const after = edited(before, changes)
  await saveState(tx, before, after)
  await scheduleBoundary(tx, deps.timers, after, first.cause.at)
  const known = new Set(before.edits.map(({ slot }) => slot))
  for (const { edit, cause } of changes) {
    const { operationId: id, at, address } = cause
    const isFirst = !known.has(edit.slot) && edit.isToldAsChange !== true
    const options = { address, etag: false }
    const date = dateAt(after, edit.slot)
    const document = date === undefined ? eventDocument(after, options) : dateDocument(after, date, options)
    const type = isFirst ? 'calendar.event.created' : 'calendar.event.updated'
    await tellChange(tx, deps.outbox, type, { event: after.event, address, document, id, at })
  }
  return after
}
