import { randomUUID } from 'node:crypto'
import { waitFor } from '@restante/testkit'
import type { CalendarFixture } from '../../support/fixture.ts'
import type { TestInbox } from '../../support/tenant.ts'
import { type Arrivals, BOSS, cancel, type Mail, request, startArrivals, usual } from './arrivals.ts'
import { calendarFile, SHAPES, vevent } from './files.ts'

let fixture: CalendarFixture
let arrivals: Arrivals
beforeAll(async () => {
  arrivals = await startArrivals()
  fixture = arrivals.fixture
})
afterAll(() => fixture.stop())

describe('received invitations', () => {
  it.each(Object.keys(SHAPES))('are imported as %s writes them', async (program) => {
    const inbox = fixture.inbox()
    const shape = SHAPES[program]
    const id = await arrivals.arrive(inbox, shape?.(BOSS, inbox.address, 'uid@x') ?? '')
    const agenda = await arrivals.agendaOf(inbox)
    expect(agenda[0]).toMatchObject({
      title: 'Weekly planning',
      location: 'Room 1',
      start: '2027-10-07T09:00:00',
      start_at: '2027-10-07T07:00:00Z',
      end_at: '2027-10-07T08:00:00Z',
      timezone: 'Europe/Berlin',
      response_status: 'needs_action',
      uid: 'uid@x',
      source: 'email',
      organizer_email: BOSS,
      origin_message_id: id,
    })
    const slots = { Google: 3, Outlook: 4, Apple: 4, Zoom: 1, Nextcloud: 4 }[program]
    expect(agenda).toHaveLength(slots ?? -1)
    if (program === 'Nextcloud')
      expect(agenda[1]).toMatchObject({ start: '2027-10-14T11:00:00', location: 'Room 2', is_exception: true })
  })

  it('are replaced by newer versions, and keep the answer while the times are the same', async () => {
    const inbox = fixture.inbox()
    await arrivals.arrive(inbox, request(usual(inbox, 'a')))
    const [created] = await arrivals.eventsOf(inbox)
    const body = { status: 'accepted', send_reply: false }
    await fixture.call('calendarEvents.respond', inbox, { params: { event_id: created?.event_id ?? '' }, body })
    await arrivals.arrive(
      inbox,
      request({ ...usual(inbox, 'a'), DTSTAMP: '20261001T090000Z', SUMMARY: 'Dinner', LOCATION: 'Here' }),
    )
    expect(await arrivals.eventsOf(inbox)).toMatchObject([
      { title: 'Dinner', location: 'Here', response_status: 'accepted' },
    ])
    await arrivals.arrive(inbox, request({ ...usual(inbox, 'a'), SEQUENCE: '2', DTEND: '20271007T110000Z' }))
    const [moved] = await arrivals.eventsOf(inbox)
    expect(moved).toMatchObject({
      event_id: created?.event_id,
      response_status: 'needs_action',
      sequence: 2,
      title: 'Lunch',
    })
    expect(moved?.location).toBeUndefined()
    const types = () =>
      fixture.publicEvents(inbox).flatMap(({ event_type }) => (event_type === undefined ? [] : [event_type]))
    const told = ['created', 'responded', 'updated', 'updated'].map((name) => `calendar.event.${name}`)
    await waitFor(async () => types().length >= told.length, { what: 'the events' })
    expect(types()).toEqual(told)
  })

  it('change one date, and cancel one, and the whole series', async () => {
    const inbox = fixture.inbox()
    const series = { ...usual(inbox, 'a'), RRULE: 'FREQ=DAILY;COUNT=3' }
    await arrivals.arrive(inbox, request(series))
    const date = { ...usual(inbox, 'a'), 'RECURRENCE-ID': '20271008T090000Z' }
    await arrivals.arrive(inbox, request({ ...date, DTSTART: '20271008T120000Z', DTEND: '20271008T130000Z' }))
    await arrivals.arrive(inbox, cancel({ ...date, 'RECURRENCE-ID': '20271009T090000Z' }))
    expect(await arrivals.agendaOf(inbox)).toMatchObject([
      { start: '2027-10-07T09:00:00', is_exception: false },
      { start: '2027-10-08T12:00:00', title: 'Lunch' },
    ])
    await arrivals.arrive(inbox, cancel({ ...series, SEQUENCE: '2' }))
    expect(await arrivals.agendaOf(inbox)).toEqual([])
    const stored = await arrivals.eventsOf(inbox)
    expect(stored.find(({ kind }: { kind: string }) => kind === 'series')).toMatchObject({ status: 'cancelled' })
  })

  it('to single dates of an unknown series stay apart, until the whole series comes', async () => {
    const inbox = fixture.inbox()
    const uid = randomUUID()
    const dateOn = (day: string, more: Record<string, string> = {}) => ({
      ...usual(inbox, uid),
      'RECURRENCE-ID': `202710${day}T090000Z`,
      DTSTART: `202710${day}T090000Z`,
      DTEND: `202710${day}T100000Z`,
      ...more,
    })
    await arrivals.arrive(inbox, request(dateOn('07')))
    await arrivals.arrive(inbox, request(dateOn('14')))
    expect(await arrivals.agendaOf(inbox)).toHaveLength(2)
    const later = { SEQUENCE: '2', DTSTAMP: '20261002T080000Z' }
    await arrivals.arrive(
      inbox,
      request(dateOn('14', { ...later, DTSTART: '20271015T110000Z', DTEND: '20271015T120000Z' })),
    )
    await arrivals.arrive(inbox, cancel(dateOn('07', later)))
    expect(await arrivals.agendaOf(inbox)).toMatchObject([{ kind: 'single', start: '2027-10-15T11:00:00' }])
    await arrivals.arrive(inbox, request({ ...usual(inbox, uid), SEQUENCE: '3', RRULE: 'FREQ=WEEKLY;COUNT=3' }))
    expect(await arrivals.agendaOf(inbox)).toMatchObject([
      { kind: 'instance', start: '2027-10-07T09:00:00' },
      { kind: 'instance', start: '2027-10-14T09:00:00' },
      { kind: 'instance', start: '2027-10-21T09:00:00' },
    ])
  })

  it.each([
    ['a semicolon at its end', 'DTSTART:20271007T090000Z', 'FREQ=DAILY;COUNT=2;', 'FREQ=DAILY;COUNT=2'],
    [
      'an end without a zone',
      'DTSTART:20271007T090000Z',
      'FREQ=DAILY;UNTIL=20271008T090000',
      'FREQ=DAILY;UNTIL=20271008T090000Z',
    ],
    ['a day as its end', 'DTSTART:20271007T090000Z', 'FREQ=DAILY;UNTIL=20271008', 'FREQ=DAILY;UNTIL=20271008T235959Z'],
    [
      'a time for whole days',
      'DTSTART;VALUE=DATE:20271007',
      'FREQ=DAILY;BYHOUR=9;BYMINUTE=1,2;COUNT=2',
      'FREQ=DAILY;COUNT=2',
    ],
  ])('repeat by a rule with %s', async (_, start, given, rule) => {
    const inbox = fixture.inbox()
    const { DTSTART: _start, DTEND: _end, ...lines } = usual(inbox, 'a')
    await arrivals.arrive(inbox, request(lines, start, `RRULE:${given}`))
    expect(await arrivals.eventsOf(inbox)).toMatchObject([{ kind: 'series', recurrence: { rule } }])
    expect(await arrivals.agendaOf(inbox)).toHaveLength(2)
  })

  it('tell mail-ingest which event they were applied to', async () => {
    const inbox = fixture.inbox()
    const message_id = await arrivals.arrive(inbox, request(usual(inbox, 'a')))
    const [event] = await arrivals.eventsOf(inbox)
    const applied = await waitFor(
      async () => fixture.publicEvents(inbox).find((payload) => payload['message_id'] === message_id),
      { what: 'the event' },
    )
    expect(applied).toMatchObject({ calendar_event_id: event?.event_id, inbox_uid: inbox.inbox_uid })
  })
})

describe('invitations that must change nothing', () => {
  const cases: Record<string, (inbox: TestInbox) => { content: string } & Mail> = {
    'of an organizer who did not write the mail': (inbox) => ({
      content: request(usual(inbox, 'a')),
      from: 'eve@evil.test',
    }),
    'of a mail that is not authenticated': (inbox) => ({ content: request(usual(inbox, 'a')), authenticated: false }),
    'of a mail that is spam': (inbox) => ({ content: request(usual(inbox, 'a')), labels: ['received', 'spam'] }),
    'without an organizer': (inbox) => {
      const { ORGANIZER: _, ...lines } = usual(inbox, 'a')
      return { content: request(lines) }
    },
    'with another method': (inbox) => ({ content: calendarFile('PUBLISH', vevent(usual(inbox, 'a'))) }),
    'of two different files': (inbox) => {
      const content = request(usual(inbox, 'a'))
      return { content, files: [content, request(usual(inbox, 'b'))] }
    },
    'of two events': (inbox) => ({
      content: calendarFile('REQUEST', vevent(usual(inbox, 'a')), vevent(usual(inbox, 'b'))),
    }),
    'in an unknown zone': (inbox) => {
      const { DTSTART: _, ...lines } = usual(inbox, 'a')
      return { content: request(lines, 'DTSTART;TZID=Customized Time Zone:20271007T090000') }
    },
    'whose rule never matches': (inbox) => ({
      content: request({ ...usual(inbox, 'a'), RRULE: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' }),
    }),
    'with more dates than a calendar takes': (inbox) => ({
      content: request(usual(inbox, 'a'), `RDATE:${'20271008T090000Z,'.repeat(50_000)}20271009T090000Z`),
    }),
    'with a rule of every second': (inbox) => ({ content: request({ ...usual(inbox, 'a'), RRULE: 'FREQ=SECONDLY' }) }),
    'of nested components': () => ({ content: 'BEGIN:VCALENDAR\r\n'.repeat(40_000) }),
    'with broken folding': (inbox) => ({ content: request(usual(inbox, 'a')).replaceAll('\r\n', '\r\n ') }),
    'of garbage': () => ({ content: '\0\0\0' }),
  }
  it.each(Object.entries(cases))('are those %s', async (_, mailFor) => {
    const inbox = fixture.inbox()
    const { content, ...mail } = mailFor(inbox)
    await arrivals.arrive(inbox, content, mail)
    expect(await arrivals.eventsOf(inbox)).toEqual([])
  })

  it('are those of paused inboxes', async () => {
    const inbox = fixture.inbox()
    fixture.peers.inboxes.set(inbox.inbox_uid, { ...inbox, asCaller: { ...inbox.asCaller, paused: true } })
    await arrivals.arrive(inbox, request(usual(inbox, 'a')))
    expect(await arrivals.eventsOf(inbox)).toEqual([])
  })

  it('are repeated and older ones, those of another organizer, and those about own events', async () => {
    const inbox = fixture.inbox()
    await arrivals.arrive(inbox, request({ ...usual(inbox, 'a'), SEQUENCE: '3' }))
    const body = { title: 'Own', start: '2027-10-07T09:00:00', end: '2027-10-07T10:00:00' }
    const { event: own } = (await fixture.call('calendarEvents.create', inbox, { body })).body
    const before = await arrivals.eventsOf(inbox)
    const changed = { ...usual(inbox, 'a'), SUMMARY: 'Changed' }
    await arrivals.arrive(inbox, request({ ...changed, SEQUENCE: '3' }))
    await arrivals.arrive(inbox, request({ ...changed, SEQUENCE: '2', DTSTAMP: '20261101T080000Z' }))
    const eve = { ...changed, SEQUENCE: '9', ORGANIZER: 'mailto:eve@evil.test' }
    await arrivals.arrive(inbox, request(eve), { from: 'eve@evil.test' })
    await arrivals.arrive(inbox, cancel(eve), { from: 'eve@evil.test' })
    await arrivals.arrive(inbox, request({ ...changed, UID: own?.uid ?? '', SEQUENCE: '9' }))
    await arrivals.arrive(inbox, cancel({ ...changed, UID: own?.uid ?? '', SEQUENCE: '9' }))
    await arrivals.arrive(inbox, request({ ...changed, SEQUENCE: '9' }), { from: 'forwarder@customer.test' })
    expect(await arrivals.eventsOf(inbox)).toEqual(before)
  })

  it('but files of 10,000 attendees, with NULs and bombs of zones are imported within limits', async () => {
    const inbox = fixture.inbox()
    const attendees = Array.from({ length: 10_000 }, (_, index) => `ATTENDEE:mailto:a${index}@x.test`)
    const { ATTENDEE: own = '', ...lines } = usual(inbox, 'a')
    const zones =
      'BEGIN:VTIMEZONE\r\nTZID:X\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0100\r\nRRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\nEND:VTIMEZONE'
    const event = vevent({ ...lines, SUMMARY: `L\0${'u'.repeat(5_000)}` }, ...attendees, `ATTENDEE:${own}`)
    await arrivals.arrive(inbox, calendarFile('REQUEST', ...Array.from({ length: 500 }, () => zones), event))
    const [found] = await arrivals.eventsOf(inbox)
    expect(found).toMatchObject({ attendee_count: 100, response_status: 'needs_action' })
    expect(found?.title).toHaveLength(1_000)
  })
})
