import { datesBetween } from '../../../../src/dates/index.ts'
import { calendarObject, seriesComponents } from '../../../../src/icalendar/write/index.ts'
import { mailsFor, type SentChange } from '../../../../src/invitations/out/index.ts'
import type { EditRow, EventState } from '../../../../src/model/rows.ts'
import { edit, type GivenSeries, oneOff, series } from '../../../dates/states.ts'

/** A calendar object, and what other programs are to read in it. */
export interface Vector {
  readonly name: string
  readonly calendar: string
  /** Starts and ends of its dates from 2026 until 2030, as seconds since the epoch, in order. */
  readonly dates: readonly (readonly [start: number, end: number])[]
  readonly summary: string
}

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/Dublin',
  'America/New_York',
  'America/Santiago',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Jerusalem',
  'Asia/Kolkata',
  'Pacific/Auckland',
  'Pacific/Chatham',
]

const TITLE = 'Größe; "A, B" \\ 日本語 🎉'
const WINDOW = {
  after: new Date('2026-01-01T00:00:00Z'),
  before: new Date('2030-01-01T00:00:00Z'),
  includeOverlapping: true,
}

const SERIES: Readonly<Record<string, GivenSeries>> = {
  'every week': { rule: 'FREQ=WEEKLY;BYDAY=MO,TH' },
  'every month': { rule: 'FREQ=MONTHLY;BYDAY=1MO' },
  counted: { rule: 'FREQ=DAILY;COUNT=30', exdates: ['2026-03-04T09:00:00', '2026-03-05T09:00:00'] },
  'until an instant': { rule: 'FREQ=WEEKLY;UNTIL=20270302T120000Z;BYDAY=MO' },
  'with more dates': {
    rule: 'FREQ=WEEKLY;COUNT=5;BYDAY=MO',
    rdates: ['2026-07-01T15:00:00', '2026-11-01T15:00:00'],
  },
  // Times that clocks skip or repeat are left out: neither program reads those as RFC 5545 3.3.5 says.
  'after changes of clocks': {
    start: '2026-03-01T04:30:00',
    end: '2026-03-01T05:15:00',
    rule: 'FREQ=WEEKLY;COUNT=60;BYDAY=SU',
  },
}

const WRITING = { address: 'desk@example.com', displayName: 'The "Desk", ü', at: new Date('2026-02-01T10:00:00Z') }
const ATTENDEES = [
  { email: 'ann@example.org', name: 'Ann "A", Boss', status: 'needs_action', role: 'required' },
  { email: 'bob@example.org', status: 'accepted', role: 'optional' },
] as const

/** Objects of every form that is mailed, in each zone. */
export function vectors(): Vector[] {
  return [...ZONES.flatMap(ofZone), ...wholeDays(), ...cancellationsAndAnswers()]
}

function ofZone(timezone: string): Vector[] {
  const more = { title: TITLE, description: `${TITLE}\nnext, line\n`.repeat(20), attendees: ATTENDEES }
  const all = Object.entries(SERIES).map(([name, given]) =>
    vector(`${name} in ${timezone}`, series({ ...given, timezone }, more)),
  )
  const base = series({ rule: 'FREQ=DAILY;COUNT=20', timezone }, more)
  const edits: EditRow[] = [
    edit('2026-03-05T09:00:00', 'single', { start: '2026-03-05T11:00:00', title: 'Later' }),
    edit('2026-03-07T09:00:00', 'single', { location: 'Elsewhere' }),
    edit('2026-03-10T09:00:00', 'future', { duration_value: 7_200_000 }),
  ]
  const truncated = { ...base.event, rule: 'FREQ=DAILY', truncate_before: '2026-03-29T09:00:00' }
  return [
    ...all,
    vector(`one-off in ${timezone}`, once(timezone, more)),
    vector(`edited in ${timezone}`, { ...base, edits }),
    vector(`ended in ${timezone}`, { ...base, event: truncated }),
  ]
}

function once(timezone: string, more: Partial<EventState['event']>): EventState {
  return series(
    { timezone, start: '2026-06-02T09:00:00', end: '2026-06-02T09:30:00' },
    { ...more, kind: 'single', rule: null },
  )
}

function wholeDays(): Vector[] {
  const more = { title: TITLE, attendees: ATTENDEES }
  return [
    vector('one-off of three days', oneOff('2026-11-02', '2026-11-04', { ...more, timezone: 'UTC' })),
    vector(
      'series of days',
      series({ start: '2026-03-02', end: '2026-03-03', timezone: 'UTC', rule: 'FREQ=MONTHLY;BYDAY=1MO' }, more),
    ),
  ]
}

/** Only what they may have is looked at: they have no dates. */
function cancellationsAndAnswers(): Vector[] {
  const before = series({ rule: 'FREQ=DAILY;COUNT=20' }, { title: TITLE, attendees: ATTENDEES })
  const slot = '2026-03-05T09:00:00'
  const own = { email: WRITING.address, status: 'needs_action', role: 'required' } as const
  const invited = { source: 'email', organizer_email: 'boss@example.org', attendees: [own] } as const
  const state = { ...before, event: { ...before.event, ...invited } }
  const after = { ...before, event: { ...before.event, attendees: [ATTENDEES[0]], exdates: [slot], sequence: 1 } }
  const changes: SentChange[] = [
    { kind: 'deleted', before, ...WRITING },
    { kind: 'event', before, after, ...WRITING },
    { kind: 'date-cancelled', mode: 'single', slot, before, after, ...WRITING },
    { kind: 'reply', state, status: 'accepted', comment: TITLE, ...WRITING },
    { kind: 'reply', state, slot, status: 'tentative', ...WRITING },
  ]
  return changes.flatMap((change) =>
    mailsFor(change).map(({ method, calendar, title }) => ({
      name: `${method} of ${change.kind}`,
      calendar,
      dates: [],
      summary: title,
    })),
  )
}

function vector(name: string, state: EventState): Vector {
  const dates = [...datesBetween(state, WINDOW)].map(
    ({ start_at, end_at }) => [start_at.getTime() / 1_000, end_at.getTime() / 1_000] as const,
  )
  return {
    name,
    calendar: calendarObject(
      'REQUEST',
      seriesComponents(state, WRITING, () => true),
    ),
    dates,
    summary: state.event.title,
  }
}
