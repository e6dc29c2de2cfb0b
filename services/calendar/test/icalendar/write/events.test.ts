import ICAL from 'ical.js'
import { dateAt } from '../../../src/dates/index.ts'
import {
  calendarObject,
  dateComponent,
  eventComponent,
  seriesComponents,
  subscribedObject,
  type Writing,
} from '../../../src/icalendar/write/index.ts'
import type { EventState } from '../../../src/model/rows.ts'
import { edit, oneOff, series } from '../../dates/states.ts'

const writing: Writing = { address: 'desk@example.com', displayName: 'The Desk', at: new Date('2026-02-01T10:00:00Z') }
const all = () => true

const objectOf = (state: EventState): string => calendarObject('REQUEST', seriesComponents(state, writing, all))
const unfolded = (object: string): string[] => object.replaceAll('\r\n ', '').split('\r\n')
const lines = (state: EventState, ...names: string[]): string[] =>
  unfolded(objectOf(state).replace(/BEGIN:VTIMEZONE.*END:VTIMEZONE\r\n/s, '')).filter((line) =>
    names.some((name) => new RegExp(`^${name}[;:]`).test(line)),
  )

describe('a calendar object', () => {
  it('has the properties of an invitation, and nothing that is private', () => {
    const attendees = [
      { email: 'ann@example.org', name: 'Ann "A", Boss', status: 'needs_action', role: 'required', comment: 'secret' },
      { email: 'bob@example.org', status: 'tentative', role: 'optional' },
    ] as const
    const state = oneOff('2026-03-02T09:00:00', '2026-03-02T09:30:00', {
      attendees,
      description: 'Line\r\nnext; with, \\ and\u0000 control',
      metadata: { key: 'secret' },
      sequence: 3,
    })
    expect(unfolded(objectOf(state).replace(/BEGIN:VTIMEZONE.*END:VTIMEZONE\r\n/s, ''))).toEqual([
      'BEGIN:VCALENDAR',
      'PRODID:-//Restante//Calendar//EN',
      'VERSION:2.0',
      'CALSCALE:GREGORIAN',
      'METHOD:REQUEST',
      'BEGIN:VEVENT',
      'UID:7c4e9b2a-1f3d-4a8e-b6c5-2e9d0f1a8b47@example.com',
      'SEQUENCE:3',
      'DTSTAMP:20260201T100000Z',
      'DTSTART;TZID=Europe/Berlin:20260302T090000',
      'DTEND;TZID=Europe/Berlin:20260302T093000',
      'CREATED:20260101T000000Z',
      'LAST-MODIFIED:20260101T000000Z',
      'SUMMARY:Standup',
      'DESCRIPTION:Line\\nnext\\; with\\, \\\\ and control',
      'LOCATION:Room 1',
      'STATUS:CONFIRMED',
      'TRANSP:OPAQUE',
      'ORGANIZER;CN=The Desk:mailto:desk@example.com',
      'ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN="Ann \'A\', Boss":mailto:ann@example.org',
      'ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=OPT-PARTICIPANT;PARTSTAT=TENTATIVE;RSVP=TRUE;CN=bob@example.org:mailto:bob@example.org',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ])
  })

  it('has lines of at most 75 octets, folded between characters', () => {
    const description = 'Größe 日本語 🎉 '.repeat(60)
    const object = objectOf(oneOff('2026-03-02T09:00:00', '2026-03-02T09:30:00', { description }))
    expect(Math.max(...object.split('\r\n').map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75)
    expect(object).not.toContain('\uFFFD')
    expect(object.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    const vevent = new ICAL.Component(ICAL.parse(object)).getFirstSubcomponent('vevent')
    expect(vevent?.getFirstPropertyValue('description')).toBe(description)
  })

  it('has the day after the last one as the end of whole days, and needs no zone', () => {
    const state = oneOff('2026-11-02', '2026-11-04')
    expect(lines(state, 'DTSTART', 'DTEND')).toEqual(['DTSTART;VALUE=DATE:20261102', 'DTEND;VALUE=DATE:20261105'])
    expect(objectOf(state)).not.toContain('VTIMEZONE')
  })

  it('has times in UTC where the zone is UTC', () => {
    const state = series({ timezone: 'UTC', exdates: ['2026-03-03T09:00:00'] })
    expect(lines(state, 'DTSTART', 'DTEND', 'EXDATE')).toEqual([
      'DTSTART:20260302T090000Z',
      'DTEND:20260302T093000Z',
      'EXDATE:20260303T090000Z',
    ])
  })

  it('has the end as an instant where clocks show its wall time twice', () => {
    const { event, ...rest } = oneOff('2026-10-25T01:30:00', '2026-10-25T03:30:00')
    const state = { event: { ...event, duration_value: 7_200_000, end_at: new Date('2026-10-25T01:30:00Z') }, ...rest }
    // Two hours after 01:30 it is 02:30 for the second time.
    expect(lines(state, 'DTEND')).toEqual(['DTEND:20261025T013000Z'])
  })

  it('has rule, exceptions and additional dates of a series, and dates of their own length', () => {
    const state = series({
      rule: 'FREQ=DAILY;COUNT=10',
      exdates: ['2026-03-04T09:00:00', '2026-03-05T09:00:00'],
      rdates: [
        '2026-03-20T15:00:00',
        { start: '2026-03-21T15:00:00', duration: 'PT2H' },
        { start: '2026-03-22T15:00:00', end: '2026-03-22T16:00:00' },
      ],
    })
    expect(lines(state, 'RRULE', 'EXDATE', 'RDATE')).toEqual([
      'RRULE:FREQ=DAILY;COUNT=10',
      'EXDATE;TZID=Europe/Berlin:20260304T090000,20260305T090000',
      'RDATE;TZID=Europe/Berlin:20260320T150000',
      'RDATE;TZID=Europe/Berlin;VALUE=PERIOD:20260321T150000/PT2H,20260322T150000/20260322T160000',
    ])
  })

  it.each([
    ['FREQ=DAILY', '2026-03-10T09:00:00', 'FREQ=DAILY;UNTIL=20260310T075959Z'],
    ['FREQ=DAILY;COUNT=20', '2026-03-10T09:00:00', 'FREQ=DAILY;UNTIL=20260310T075959Z'],
    ['FREQ=DAILY;COUNT=3', '2026-03-10T09:00:00', 'FREQ=DAILY;COUNT=3'],
    ['FREQ=DAILY;UNTIL=20260305T000000Z', '2026-03-10T09:00:00', 'FREQ=DAILY;UNTIL=20260305T000000Z'],
    ['FREQ=DAILY;UNTIL=20260320T000000Z', '2026-03-10T09:00:00', 'FREQ=DAILY;UNTIL=20260310T075959Z'],
  ])('ends %s before %s with %s', (rule, truncate_before, expected) => {
    const state = series({ rule, rdates: ['2026-03-10T10:00:00'] }, { truncate_before })
    expect(lines(state, 'RRULE', 'RDATE')).toEqual([`RRULE:${expected}`])
  })

  it('ends a series of whole days with the day before', () => {
    const state = series({ start: '2026-03-02', end: '2026-03-02' }, { truncate_before: '2026-03-10' })
    expect(lines(state, 'RRULE')).toEqual(['RRULE:FREQ=DAILY;UNTIL=20260309'])
  })

  it('has edited dates with all of their fields, and the next hundred of those edited from a date on', () => {
    const base = series({ rule: 'FREQ=DAILY' }, { description: 'All' })
    const moved = edit('2026-03-05T09:00:00', 'single', { start: '2026-03-05T11:00:00', title: 'Later' })
    const state = { ...base, edits: [moved, edit('2026-03-10T09:00:00', 'future', { location: 'Room 2' })] }
    expect(lines(state, 'RECURRENCE-ID')).toHaveLength(101)
    expect(lines(state, 'RECURRENCE-ID').slice(0, 2)).toEqual([
      'RECURRENCE-ID;TZID=Europe/Berlin:20260305T090000',
      'RECURRENCE-ID;TZID=Europe/Berlin:20260310T090000',
    ])
    const date = dateAt(state, '2026-03-05T09:00:00')
    const object = date && calendarObject('REQUEST', [dateComponent(state, date, writing)])
    expect(object).toContain('SUMMARY:Later\r\nDESCRIPTION:All\r\n')
    expect(object).toContain('DTSTART;TZID=Europe/Berlin:20260305T110000\r\n')
  })

  it('leaves out the last of the edited dates before it becomes large', () => {
    const base = series({ rule: 'FREQ=DAILY' }, { description: 'x'.repeat(60_000) })
    const edits = Array.from({ length: 20 }, (_, day) =>
      edit(`2026-03-${String(day + 2).padStart(2, '0')}T09:00:00`, 'single', { title: 'Other' }),
    )
    const object = objectOf({ ...base, edits })
    expect(object.length).toBeLessThan(300_000)
    expect(object.match(/^RECURRENCE-ID.*$/gm)?.[0]).toBe('RECURRENCE-ID;TZID=Europe/Berlin:20260302T090000')
  })

  it('says of an invitation of somebody else who organizes it', () => {
    const state = oneOff('2026-03-02T09:00:00', '2026-03-02T09:30:00', {
      source: 'email',
      organizer_email: 'boss@example.org',
    })
    expect(lines(state, 'ORGANIZER')).toEqual(['ORGANIZER:mailto:boss@example.org'])
  })

  it('can differ from what is stored', () => {
    const component = eventComponent(series(), writing, { sequence: 9, status: 'cancelled', attendees: [] })
    const object = calendarObject('CANCEL', [component])
    for (const line of ['METHOD:CANCEL', 'SEQUENCE:9', 'STATUS:CANCELLED']) expect(object).toContain(`${line}\r\n`)
  })
})

describe('the object of a subscription', () => {
  it('has every event, describes each zone once, and has no method', () => {
    const states = [
      series({ timezone: 'America/New_York' }, { uid: 'a@example.com' }),
      series({ timezone: 'America/New_York' }, { uid: 'b@example.com', status: 'cancelled' }),
      oneOff('2026-03-02T09:00:00', '2026-03-02T09:30:00', { uid: 'c@example.com' }),
    ]
    const components = states.flatMap((state) => seriesComponents(state, writing, all))
    const feed = subscribedObject('desk@example.com', components)
    expect(feed.match(/^UID:.*$/gm)).toEqual(['UID:a@example.com', 'UID:b@example.com', 'UID:c@example.com'])
    expect(feed.match(/^TZID:.*$/gm)).toEqual(['TZID:America/New_York', 'TZID:Europe/Berlin'])
    expect(feed).not.toContain('METHOD')
    expect(new ICAL.Component(ICAL.parse(feed)).getAllSubcomponents('vevent')).toHaveLength(3)
  })
})
