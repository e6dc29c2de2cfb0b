import type { GivenRecurrence } from '../../src/dates/index.ts'
import { type CalendarDate, datesBetween, instantsOf, readRecurrence, readSchedule } from '../../src/dates/index.ts'
import type { BegunDateRow, EditedFields, EditRow, EventRow, EventState, Schedule } from '../../src/model/rows.ts'

const ID = '7c4e9b2a-1f3d-4a8e-b6c5-2e9d0f1a8b47'
const ORGANIZATION = '0b6f5a52-4a3c-4c7b-9d43-0d6f3c1f7a11'
const INBOX = '1d3f0a11-95a1-4d0e-8f0c-5a8b7c6d5e4f'
export const CREATED = new Date('2026-01-01T00:00:00Z')

export interface GivenSeries extends Partial<GivenRecurrence> {
  readonly start?: string
  readonly end?: string
  readonly all_day?: boolean
  readonly timezone?: string
  readonly duration_mode?: 'exact' | 'nominal'
}

/** A daily series at nine in Berlin, or as given, without edits. */
export function series(
  {
    start = '2026-03-02T09:00:00',
    end = '2026-03-02T09:30:00',
    timezone = 'Europe/Berlin',
    ...given
  }: GivenSeries = {},
  more: Partial<EventRow> = {},
): EventState {
  const { all_day = !start.includes('T'), duration_mode, rule = 'FREQ=DAILY', exdates, rdates } = given
  const schedule = readSchedule({ start, end, all_day, timezone, duration_mode, series: true })
  return stateOf(schedule, { kind: 'series', ...readRecurrence({ rule, exdates, rdates }, schedule), ...more })
}

/** A one-off event. */
export function oneOff(start: string, end: string, more: Partial<EventRow> = {}): EventState {
  const schedule = readSchedule({ start, end, all_day: !start.includes('T'), timezone: 'Europe/Berlin', series: false })
  return stateOf(schedule, { kind: 'single', rule: null, ...more })
}

function stateOf(schedule: Schedule, more: Partial<EventRow>): EventState {
  const event: EventRow = {
    ...schedule,
    ...instantsOf(schedule),
    id: ID,
    inbox_uid: INBOX,
    organization_id: ORGANIZATION,
    pod_id: INBOX,
    kind: 'series',
    title: 'Standup',
    description: null,
    location: 'Room 1',
    metadata: null,
    status: 'confirmed',
    last_end_at: null,
    rule: null,
    exdates: [],
    rdates: [],
    truncate_before: null,
    truncated_at: null,
    history_before: null,
    attendees: [],
    uid: `${ID}@example.com`,
    sequence: 0,
    time_sequence: 0,
    recurrence_id: '',
    source: 'api',
    organizer_email: null,
    origin_message_id: null,
    stamped_at: null,
    revision: 0,
    edits_revision: 0,
    seen_until: CREATED,
    take_overs: 0,
    created_at: CREATED,
    updated_at: CREATED,
    ...more,
  }
  return { event, edits: [], begun: [], cancelled: [], responses: [] }
}

export function edit(slot: string, mode: 'single' | 'future', fields: EditedFields): EditRow {
  return {
    event_id: ID,
    slot,
    mode,
    inbox_uid: INBOX,
    organization_id: ORGANIZATION,
    fields,
    revision: 0,
    sequence: 0,
    stamped_at: null,
    start_at: null,
    end_at: null,
    created_at: CREATED,
    updated_at: CREATED,
  }
}

/** A date that has begun, at its slot unless `start` says otherwise, for half an hour. */
export function begun(slot: string, more: Partial<BegunDateRow> = {}): BegunDateRow {
  const schedule = {
    all_day: false,
    start: more.start ?? slot,
    timezone: 'Europe/Berlin',
    duration_mode: 'nominal' as const,
    duration_value: 1_800_000,
  }
  return {
    event_id: ID,
    slot,
    inbox_uid: INBOX,
    organization_id: ORGANIZATION,
    ...schedule,
    ...instantsOf(schedule),
    status: 'confirmed',
    state: 'ended',
    snapshot: null,
    ...more,
  }
}

export function cancelled(slot: string, cancelledAt: Date): EventState['cancelled'][number] {
  return {
    event_id: ID,
    slot,
    inbox_uid: INBOX,
    organization_id: ORGANIZATION,
    document: {},
    cancelled_at: cancelledAt,
  }
}

export function answer(slot: string, email: string, comment: string | null): EventState['responses'][number] {
  return {
    event_id: ID,
    slot,
    email,
    inbox_uid: INBOX,
    organization_id: ORGANIZATION,
    status: 'declined',
    comment,
    responded_at: CREATED,
  }
}

/** The dates in a window, those included that reach into it. */
export function dates(state: EventState, after: string, before: string, includeOverlapping = true): CalendarDate[] {
  return [...datesBetween(state, { after: new Date(after), before: new Date(before), includeOverlapping })]
}

/** Their starts. */
export function starts(state: EventState, after: string, before: string): string[] {
  return dates(state, after, before).map(({ start }) => start)
}

/** The first error of a refusal, as `path: message`, with its code if it is another one than that of a 400. */
export function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !('options' in error)) throw error
    const { errors = [] } = error.options as { errors?: { path: (string | number)[]; message: string }[] }
    return errors[0] === undefined ? String(error.code) : `${errors[0].path.join('.')}: ${errors[0].message}`
  }
  return 'accepted'
}
