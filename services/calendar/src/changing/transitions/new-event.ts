import { randomUUID } from 'node:crypto'
import { instantsOf, lastEndOf } from '../../dates/index.ts'
import type { EventRow, EventState } from '../../model/rows.ts'
import { boundedSequence } from '../../model/sequence.ts'
import type { Cause, NewEvent } from './cause.ts'

/** The state of an event that is created (calendar 5). */
export function newEvent(given: NewEvent, { at, address, mail }: Cause): EventState {
  const { inbox_created_at, uid, recurrence_id = '', ...fields } = given
  const id = randomUUID()
  const sequence = boundedSequence(mail?.sequence ?? 0)
  const event: EventRow = {
    ...fields,
    ...instantsOf(fields),
    id,
    kind: fields.rule === null ? 'single' : 'series',
    last_end_at: null,
    truncate_before: null,
    truncated_at: null,
    history_before: null,
    uid: uid ?? `${id}@${address.slice(address.lastIndexOf('@') + 1)}`,
    recurrence_id,
    sequence,
    time_sequence: sequence,
    origin_message_id: mail?.message_id ?? null,
    stamped_at: mail?.stamped_at ?? null,
    revision: 0,
    edits_revision: 0,
    seen_until: at,
    created_at: at,
    updated_at: at,
  }
  return {
    event: { ...event, last_end_at: lastEndOf(event) },
    edits: [],
    begun: [],
    cancelled: [],
    responses: [],
  }
}
