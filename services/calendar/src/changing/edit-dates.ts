import type { Tx } from '@restante/service/database'
import type { EventState } from '../model/rows.ts'
import { saveState } from '../store/index.ts'
import { scheduleBoundary } from '../timers/boundary.ts'
import { editDates as edited, type SingleEdit } from './transitions/index.ts'
import { tellEdit, type WriteDeps } from './writes.ts'

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
  for (const { edit, cause } of changes) await tellEdit(tx, deps, { before, after }, edit, cause)
  return after
}
