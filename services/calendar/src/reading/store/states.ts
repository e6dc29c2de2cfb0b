import type {
  BegunDateRow,
  CancelledDateRow,
  DateResponseRow,
  EditRow,
  EventRow,
  EventState,
} from '../../model/rows.ts'

/** Rows about dates, of any number of events. */
export interface DateRows {
  readonly edits: readonly EditRow[]
  readonly begun: readonly BegunDateRow[]
  readonly responses: readonly DateResponseRow[]
  /** Those of begun dates are needed wherever these are: without them a date that was taken out while it ran is still there. */
  readonly cancelled: readonly CancelledDateRow[]
}

/** Puts together what was read of events and of their dates. */
export function statesOf(events: readonly EventRow[], { edits, begun, responses, cancelled }: DateRows): EventState[] {
  const edited = byEvent(edits)
  const started = byEvent(begun)
  const answered = byEvent(responses)
  const removed = byEvent(cancelled)
  return events.map((event) => ({
    event,
    edits: edited.get(event.id) ?? [],
    begun: started.get(event.id) ?? [],
    responses: answered.get(event.id) ?? [],
    cancelled: removed.get(event.id) ?? [],
  }))
}

function byEvent<Row extends { readonly event_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, (row) => row.event_id)
}
