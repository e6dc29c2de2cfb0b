import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Attendee } from '@restante/contracts/resources'
import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import type { Tx } from '@restante/service/database'
import { createEvent, deleteEvent, editDate, updateEvent } from '../../changing/writes.ts'
import { type CalendarDate, dateAt, instantsOf } from '../../dates/index.ts'
import type { ReadEvent, ReadFile } from '../../icalendar/read/index.ts'
import { datedId } from '../../model/dated-id.ts'
import type { EditedFields, EventState, Schedule } from '../../model/rows.ts'
import { saveState } from '../../store/index.ts'
import { described, eventFields } from './fields.ts'
import { knownEvent, loneDates, recurrenceKeyOf, refusalOf, sameAuthor, slotOf } from './known.ts'
import { type Applied, type Arrival, causeOf, isOutdated } from './mail.ts'
import { scheduleOf } from './times.ts'

/** Applies an invitation, or a new version of one (calendar 15). @throws ApiError for what no event can be. */
export async function applyRequest(tx: Tx, file: ReadFile, arrival: Arrival): Promise<Applied> {
  const known = await knownEvent(tx, arrival, file.uid)
  const refusal = refusalOf(file, known, arrival)
  if (refusal !== undefined) return { ignored: refusal }
  const [first, ...others] = file.events
  if (first === undefined || file.events.length > CALENDAR_LIMITS.singleEdits) return { ignored: 'invalid' }
  if (first.recurrenceId === undefined) {
    const main = await applyMain(tx, file.uid, first, known, arrival)
    return applyDates(tx, others, main, arrival)
  }
  if (known === undefined) return applyLoneDates(tx, file, arrival)
  return applyDates(tx, file.events, { state: known, isApplied: false }, arrival)
}

interface Progress {
  readonly state: EventState
  readonly isApplied: boolean
}

async function applyMain(
  tx: Tx,
  uid: string,
  event: ReadEvent,
  known: EventState | undefined,
  arrival: Arrival,
): Promise<Progress> {
  if (known === undefined) {
    await dropLoneDates(tx, uid, arrival)
    return { state: await create(tx, uid, event, arrival), isApplied: true }
  }
  if (isOutdated(event, known.event, arrival)) return { state: known, isApplied: false }
  return { state: await replace(tx, event, known, arrival), isApplied: true }
}

async function create(tx: Tx, uid: string, event: ReadEvent, arrival: Arrival): Promise<EventState> {
  const { owner, takeOvers, context, deps } = arrival
  const { organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid, createdAt } = owner
  const given = {
    ...eventFields(event, context),
    metadata: null,
    organization_id,
    pod_id,
    inbox_uid,
    inbox_created_at: createdAt,
    source: 'email' as const,
    organizer_email: event.organizer?.toLowerCase() ?? null,
    uid,
    recurrence_id: recurrenceKeyOf(event, arrival),
    take_overs: takeOvers,
  }
  return createEvent(tx, deps, given, causeOf(event, arrival, randomUUID()))
}

/** The whole event as the file has it, besides `metadata`, and what the inbox answered if the times are the same. */
async function replace(tx: Tx, event: ReadEvent, known: EventState, arrival: Arrival): Promise<EventState> {
  const fields = eventFields(event, arrival.context)
  const before = known.event
  const isSame = isSameTime(before, fields) && before.rule === fields.rule
  const attendees = isSame ? withOwnAnswer(fields.attendees, before.attendees, arrival) : fields.attendees
  const state = await startingAfresh(tx, known, fields, arrival.at)
  return updateEvent(tx, arrival.deps, state, { ...fields, attendees }, causeOf(event, arrival, randomUUID()))
}

/** A one-off that has begun, and is put off to a time that is to come, begins again. */
async function startingAfresh(tx: Tx, known: EventState, next: Schedule, at: Date): Promise<EventState> {
  const isPutOff = known.event.kind === 'single' && known.begun.length > 0 && instantsOf(next).start_at > at
  if (!isPutOff) return known
  const fresh = { ...known, begun: [] }
  await saveState(tx, known, fresh)
  return fresh
}

function isSameTime(a: Schedule, b: Schedule): boolean {
  return (['all_day', 'start', 'timezone', 'duration_value'] as const).every((name) => a[name] === b[name])
}

function withOwnAnswer(
  attendees: readonly Attendee[],
  before: readonly Attendee[],
  { owner }: Arrival,
): readonly Attendee[] {
  const answered = before.find(({ email }) => sameAuthor(email, owner.address))
  if (answered === undefined) return attendees
  const { status, comment, responded_at } = answered
  const answer = {
    status,
    ...(comment !== undefined && { comment }),
    ...(responded_at !== undefined && { responded_at }),
  }
  return attendees.map((attendee) =>
    sameAuthor(attendee.email, owner.address) ? { ...attendee, ...answer } : attendee,
  )
}

/** Applies dates of a series, of those it has. */
async function applyDates(tx: Tx, dates: readonly ReadEvent[], main: Progress, arrival: Arrival): Promise<Applied> {
  let { state } = main
  const slots: string[] = []
  let isOld = false
  for (const event of state.event.kind === 'series' ? dates : []) {
    const slot = slotOf(event, state, arrival)
    if (slot === undefined || dateAt(state, slot) === undefined) continue
    const stored = state.edits.find((edit) => edit.slot === slot && edit.mode === 'single')
    isOld = isOutdated(event, stored, arrival)
    if (isOld) continue
    const fields = dateFields(state, slot, event, arrival)
    const edit = { slot, mode: 'single' as const, fields }
    state = await editDate(tx, arrival.deps, state, edit, causeOf(event, arrival, randomUUID()))
    slots.push(slot)
  }
  const [slot] = slots
  if (main.isApplied || slots.length > 1) return { calendarEventId: state.event.id }
  if (slot !== undefined) return { calendarEventId: datedId(state.event.id, slot) }
  return { ignored: isOld || dates.length === 0 ? 'outdated' : 'unknown_date' }
}

const FIELDS = [
  'title',
  'description',
  'location',
  'status',
  'start',
  'duration_mode',
  'duration_value',
  'attendees',
] as const

/** What a file says of a date and its series does not: the rest keeps following the series. */
function dateFields(state: EventState, slot: string, event: ReadEvent, arrival: Arrival): EditedFields {
  const { context } = arrival
  const date = dateAt(state, slot)
  const bare = dateAt({ ...state, edits: state.edits.filter((edit) => edit.slot !== slot), responses: [] }, slot)
  const stored = state.edits.find((edit) => edit.slot === slot)?.fields ?? {}
  const schedule = scheduleOf(event, context, { ...state.event, ...modeOf(bare) })
  const said = { ...described(event, context), ...schedule }
  const isSame = date !== undefined && isSameTime(date, schedule)
  const attendees = isSame ? withOwnAnswer(said.attendees, date.attendees, arrival) : said.attendees
  const all = { ...said, attendees }
  const isOwn = (name: (typeof FIELDS)[number]) =>
    stored[name] !== undefined || !isDeepStrictEqual(all[name], bare?.[name])
  return Object.fromEntries(FIELDS.filter(isOwn).map((name) => [name, all[name]]))
}

function modeOf(date: CalendarDate | undefined): Partial<Pick<Schedule, 'duration_mode'>> {
  return date === undefined ? {} : { duration_mode: date.duration_mode }
}

/** Dates of a series that the inbox is not invited to: each is an event of its own. */
async function applyLoneDates(tx: Tx, file: ReadFile, arrival: Arrival): Promise<Applied> {
  const lone = await loneDates(tx, arrival, file.uid)
  if (lone.some((state) => refusalOf(file, state, arrival) !== undefined)) return { ignored: 'wrong_organizer' }
  const ids: string[] = []
  for (const event of file.events) {
    const key = recurrenceKeyOf(event, arrival)
    const known = lone.find((state) => state.event.recurrence_id === key)
    if (known && isOutdated(event, known.event, arrival)) continue
    const applied = known ? await replace(tx, event, known, arrival) : await create(tx, file.uid, event, arrival)
    ids.push(applied.event.id)
  }
  const [calendarEventId] = ids
  return calendarEventId === undefined ? { ignored: 'outdated' } : { calendarEventId }
}

/** The inbox is invited to the whole series now, which has these dates. */
async function dropLoneDates(tx: Tx, uid: string, arrival: Arrival): Promise<void> {
  for (const state of await loneDates(tx, arrival, uid)) {
    await deleteEvent(tx, arrival.deps, state, {
      operationId: randomUUID(),
      at: arrival.at,
      address: arrival.owner.address,
    })
  }
}
