import { sql, type Tx } from '@restante/service/database'
import { dateAt } from '../dates/index.ts'
import type { BegunDateRow, DateResponseRow, EditRow, EventState } from '../model/rows.ts'
import { selected } from '../store/columns.ts'
import type { Due } from './due.ts'

type Wanted = [inboxUid: string, eventId: string, slots: readonly string[]]

const EDITS = sql<EditRow, [...Wanted, last: string]>(
  `select ${selected('edits')} from edits
    where inbox_uid = $1 and event_id = $2
      and (slot = any($3::text[]) or mode = 'future' and slot collate "C" <= $4)`,
)
const RESPONSES = sql<DateResponseRow, Wanted>(
  `select ${selected('date_responses')} from date_responses
    where inbox_uid = $1 and event_id = $2 and slot = any($3::text[])`,
)
const SNAPSHOTS = sql<Pick<BegunDateRow, 'slot' | 'snapshot'>, Wanted>(
  `select slot, snapshot from begun_dates where inbox_uid = $1 and event_id = $2 and slot = any($3::text[])`,
)

/** Reads the texts and snapshots of the dates that are due, and of no others: an event can have hundreds of edits of 100 KB. */
export async function loadDetails(
  tx: Tx,
  state: EventState,
  due: Due,
): Promise<{ readonly state: EventState; readonly due: Due }> {
  const [described, { begun, ended }] = [await withTexts(tx, state, due), await withSnapshots(tx, state, due)]
  const started = due.started.map((date) => dateAt(described, date.slot) ?? date)
  return { state: { ...described, begun }, due: { ...due, started, ended } }
}

async function withTexts(tx: Tx, state: EventState, { started }: Due): Promise<EventState> {
  const { id, inbox_uid, kind } = state.event
  if (kind === 'single' || started.length === 0) return state
  const slots = started.map(({ slot }) => slot)
  const last = slots.toSorted().at(-1) ?? ''
  const [edits, responses] = await Promise.all([
    tx.query(EDITS, inbox_uid, id, slots, last),
    tx.query(RESPONSES, inbox_uid, id, slots),
  ])
  const whole = new Map(edits.map((edit) => [edit.slot, edit]))
  return { ...state, edits: state.edits.map((edit) => whole.get(edit.slot) ?? edit), responses }
}

async function withSnapshots(
  tx: Tx,
  { event, begun }: EventState,
  { ended }: Due,
): Promise<{ readonly begun: readonly BegunDateRow[]; readonly ended: readonly BegunDateRow[] }> {
  if (ended.length === 0) return { begun, ended }
  const slots = ended.map(({ slot }) => slot)
  const rows = await tx.query(SNAPSHOTS, event.inbox_uid, event.id, slots)
  const snapshots = new Map(rows.map(({ slot, snapshot }) => [slot, snapshot]))
  const whole = new Map(ended.map((row) => [row.slot, { ...row, snapshot: snapshots.get(row.slot) ?? null }]))
  return {
    begun: begun.map((row) => whole.get(row.slot) ?? row),
    ended: ended.map((row) => whole.get(row.slot) ?? row),
  }
}
