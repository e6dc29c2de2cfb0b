import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { invalid } from '@restante/service/errors'
import { dateAt, lastEndOf } from '../../dates/index.ts'
import type { EventState } from '../../model/rows.ts'
import type { Cause } from './cause.ts'
import { isStarting } from './due.ts'
import { type DateEdit, editDate, effectOfEdit } from './edit-date.ts'

/** A change of one date of several that are changed together. */
export interface SingleEdit {
  readonly edit: DateEdit & { readonly mode: 'single' }
  readonly cause: Cause
}

/**
 * A series after changes of several dates, each of another one: as `editDate` makes them one after the other, without looking
 * at all edits of the series for each.
 * @throws ApiError as `editDate` does.
 */
export function editDates(state: EventState, changes: readonly SingleEdit[]): EventState {
  const changed = new Map(
    changes.map(({ edit, cause }) => [edit.slot, editDate(aloneOf(state, edit.slot), edit, cause)]),
  )
  const isOther = ({ slot }: { readonly slot: string }) => !changed.has(slot)
  const rows = [...changed].flatMap(([slot, after]) => after.edits.filter((edit) => edit.slot === slot))
  const edits = [...state.edits.filter(isOther), ...rows].sort((a, b) => (a.slot < b.slot ? -1 : 1))
  if (edits.filter(({ mode }) => mode === 'single').length > CALENDAR_LIMITS.singleEdits) {
    throw invalid(['event_id'], `A series has at most ${CALENDAR_LIMITS.singleEdits} edited dates`)
  }
  const event = {
    ...state.event,
    edits_revision: state.event.edits_revision + changes.length,
    seen_until: seenUntil(state, changes),
  }
  return {
    ...state,
    event: { ...event, last_end_at: lastEndOf(event, edits) },
    edits,
    begun: state.begun.map((row) => changed.get(row.slot)?.begun.find(({ slot }) => slot === row.slot) ?? row),
    responses: [...state.responses.filter(isOther), ...[...changed.values()].flatMap(({ responses }) => responses)],
  }
}

/** All that decides about one date; single edits of others do not. */
function aloneOf(state: EventState, slot: string): EventState {
  return {
    ...state,
    edits: state.edits.filter((edit) => edit.mode === 'future' || edit.slot === slot),
    responses: state.responses.filter((answer) => answer.slot === slot),
  }
}

function seenUntil(state: EventState, changes: readonly SingleEdit[]): Date {
  const retimed = changes.find(({ edit: { slot, fields } }) => {
    const date = dateAt(state, slot)
    return date !== undefined && effectOfEdit(date, fields) === 'times'
  })
  return retimed === undefined || isStarting(state, retimed.cause.at) ? state.event.seen_until : retimed.cause.at
}
