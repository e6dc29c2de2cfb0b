import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '@restante/service/database'
import { createEvent, deleteEvent, updateEvent } from '../../changing/writes.ts'
import { type CalendarDate, dateAt, instantsOf } from '../../dates/index.ts'
import type { ReadEvent, ReadFile } from '../../icalendar/read/index.ts'
import type { EditedFields, EventState, Schedule } from '../../model/rows.ts'
import { saveState } from '../../store/index.ts'
import { applyDates, type Progress } from './dates.ts'
import { type Described, described, eventFields } from './fields.ts'
import { knownEvent, loneDates, recurrenceKeyOf, refusalOf } from './known.ts'
import { type Applied, type Arrival, causeOf, type Ignored, isOutdated } from './mail.ts'
import { withOwnAnswer, withoutOwnAnswers } from './own-answers.ts'
import { scheduleOf } from './times.ts'

/** Of one series so many dates can be known without it. */
const MOST_LONE_DATES = 100

/** Applies an invitation, or a new version of one (calendar 15). @throws ApiError for what no event can be. */
export async function applyRequest(tx: Tx, file: ReadFile, arrival: Arrival): Promise<Applied> {
  const known = await knownEvent(tx, arrival, file.uid)
  const lone = known === undefined ? await loneDates(tx, arrival, file.uid) : []
  const refusal = refusalOf(file, known === undefined ? lone : [known], arrival)
  if (refusal !== undefined) return { ignored: refusal }
  const [first, ...others] = file.events
  if (first === undefined) return { ignored: 'invalid' }
  if (first.recurrenceId === undefined) {
    if (known === undefined) await dropLoneDates(tx, lone, arrival)
    const main = await applyMain(tx, file.uid, first, known, arrival)
    return changeDates(tx, others, main, arrival)
  }
  if (known === undefined) return applyLoneDates(tx, file, lone, arrival)
  return changeDates(tx, file.events, { state: known, isApplied: false }, arrival)
}

async function applyMain(
  tx: Tx,
  uid: string,
  event: ReadEvent,
  known: EventState | undefined,
  arrival: Arrival,
): Promise<Progress> {
  if (known === undefined) return { state: await create(tx, uid, event, arrival), isApplied: true }
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
  const attendees = isSame ? withOwnAnswer(fields.attendees, before.attendees, arrival.owner.address) : fields.attendees
  const state = isSame ? known : await startingAfresh(tx, known, fields, arrival)
  return updateEvent(tx, arrival.deps, state, { ...fields, attendees }, causeOf(event, arrival, randomUUID()))
}

/** An event without what its new times end. A one-off that has begun, and is put off to a time that is to come, begins again. */
async function startingAfresh(
  tx: Tx,
  known: EventState,
  next: Schedule & Pick<Described, 'attendees'>,
  { at, owner }: Arrival,
): Promise<EventState> {
  const isPutOff = known.event.kind === 'single' && known.begun.length > 0 && instantsOf(next).start_at > at
  const asked = withoutOwnAnswers(known, next.attendees, owner.address)
  const fresh = isPutOff ? { ...asked, begun: [] } : asked
  await saveState(tx, known, fresh)
  return fresh
}

function isSameTime(a: Schedule, b: Schedule): boolean {
  return (['all_day', 'start', 'timezone', 'duration_value'] as const).every((name) => a[name] === b[name])
}

function changeDates(tx: Tx, dates: readonly ReadEvent[], main: Progress, arrival: Arrival): Promise<Applied> {
  return applyDates(tx, dates, main, arrival, (slot, event) => ({
    fields: dateFields(main.state, slot, event, arrival),
  }))
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
  const attendees = isSame ? withOwnAnswer(said.attendees, date.attendees, arrival.owner.address) : said.attendees
  const all = { ...said, attendees }
  // Attendees that an edit lists take the place of what was answered about the date.
  const isAnswered = state.responses.some((answer) => answer.slot === slot)
  const isOwn = (name: (typeof FIELDS)[number]) =>
    stored[name] !== undefined ||
    !isDeepStrictEqual(all[name], bare?.[name]) ||
    (name === 'attendees' && isAnswered && !isSame)
  return Object.fromEntries(FIELDS.filter(isOwn).map((name) => [name, all[name]]))
}

function modeOf(date: CalendarDate | undefined): Partial<Pick<Schedule, 'duration_mode'>> {
  return date === undefined ? {} : { duration_mode: date.duration_mode }
}

/** Dates of a series that the inbox is not invited to: each is an event of its own. */
async function applyLoneDates(tx: Tx, file: ReadFile, lone: readonly EventState[], arrival: Arrival): Promise<Applied> {
  const known = new Map(lone.map((state) => [state.event.recurrence_id, state]))
  let ignored: Ignored = 'outdated'
  const ids: string[] = []
  for (const event of file.events) {
    const key = recurrenceKeyOf(event, arrival) ?? ''
    const before = known.get(key)
    if (before && isOutdated(event, before.event, arrival)) continue
    if (before === undefined && known.size >= MOST_LONE_DATES) {
      ignored = 'too_many'
      continue
    }
    const after = before ? await replace(tx, event, before, arrival) : await create(tx, file.uid, event, arrival)
    known.set(key, after)
    ids.push(after.event.id)
  }
  const [calendarEventId] = ids
  return calendarEventId === undefined ? { ignored } : { calendarEventId }
}

/** The inbox is invited to the whole series now, which has these dates. */
async function dropLoneDates(tx: Tx, lone: readonly EventState[], { deps, at, owner }: Arrival): Promise<void> {
  for (const state of lone) {
    await deleteEvent(tx, deps, state, { operationId: randomUUID(), at, address: owner.address })
  }
}
