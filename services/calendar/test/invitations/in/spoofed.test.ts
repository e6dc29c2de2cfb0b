import { randomUUID } from 'node:crypto'
import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import type { CalendarFixture } from '../../support/fixture.ts'
import type { TestInbox } from '../../support/tenant.ts'
import { type Arrivals, cancel, request, startArrivals, usual } from './arrivals.ts'
import { calendarFile, vevent } from './files.ts'

const EVE = 'evil@evil.test'
const ADA = 'ada@customer.test'
const LATER = { SEQUENCE: '2', DTSTAMP: '20261002T080000Z' }

let fixture: CalendarFixture
let arrivals: Arrivals
beforeAll(async () => {
  arrivals = await startArrivals()
  fixture = arrivals.fixture
})
afterAll(() => fixture.stop())

const dateOn = (inbox: TestInbox, uid: string, day: string) => ({
  ...usual(inbox, uid),
  'RECURRENCE-ID': `202710${day}T090000Z`,
  DTSTART: `202710${day}T090000Z`,
  DTEND: `202710${day}T100000Z`,
})

describe('an invitation by another organizer', () => {
  it('neither removes, changes, cancels nor joins dates that are known without their series', async () => {
    const inbox = fixture.inbox()
    await arrivals.arrive(inbox, request(dateOn(inbox, 'a', '07')))
    const before = await arrivals.eventsOf(inbox)
    const byEve = { ...LATER, ORGANIZER: `mailto:${EVE}` }
    const files = [
      request({ ...usual(inbox, 'a'), ...byEve, RRULE: 'FREQ=WEEKLY;COUNT=3' }),
      request({ ...dateOn(inbox, 'a', '07'), ...byEve }),
      request({ ...dateOn(inbox, 'a', '14'), ...byEve }),
      cancel({ ...dateOn(inbox, 'a', '07'), ...byEve }),
      cancel({ ...usual(inbox, 'a'), ...byEve }),
    ]
    for (const file of files) await arrivals.arrive(inbox, file, { from: EVE })
    expect(before).toHaveLength(1)
    expect(await arrivals.eventsOf(inbox)).toEqual(before)
  })
})

describe('a mail that was applied before', () => {
  it('does not bring an event back that was deleted, however it is labelled', async () => {
    const inbox = fixture.inbox()
    const content = request(usual(inbox, 'a'))
    await arrivals.arrive(inbox, content)
    const [event] = await arrivals.eventsOf(inbox)
    await fixture.call('calendarEvents.delete', inbox, { params: { event_id: event?.event_id ?? '' } })
    await arrivals.arrive(inbox, content, { applied: true })
    expect(await arrivals.eventsOf(inbox)).toEqual([])
  })
})

describe('files of many dates', () => {
  const invite = async (inbox: TestInbox) => {
    const recurrence = { rule: 'FREQ=DAILY' }
    const times = { start: '2027-10-07T09:00:00', end: '2027-10-07T10:00:00' }
    const body = { title: 'Own', ...times, attendees: [{ email: ADA }], recurrence }
    return (await fixture.call('calendarEvents.create', inbox, { body })).body.event
  }
  const answerOn = (uid: string, day: string) =>
    vevent(
      { UID: uid, DTSTAMP: '20261001T080000Z', 'RECURRENCE-ID': `202710${day}T090000Z` },
      `ATTENDEE;PARTSTAT=DECLINED:mailto:${ADA}`,
    )
  const statusOn = async (inbox: TestInbox, event_id: string, day: string) => {
    const params = { event_id: `${event_id}_t202710${day}T090000` }
    const { attendees } = (await fixture.call('calendarEvents.get', inbox, { params })).body
    return attendees
  }
  const ADD = sql<
    never,
    [eventId: string, inboxUid: string, organizationId: string, count: number]
  >(`insert into date_responses (event_id, slot, email, inbox_uid, organization_id, status, responded_at)
     select $1, to_char(timestamp '2029-01-01 09:00' + n * interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS'),
            '${ADA}', $2, $3, 'accepted', now() from generate_series(1, $4::int) n`)

  it('answer one date at once', async () => {
    const inbox = fixture.inbox()
    const { uid = '', event_id = '' } = (await invite(inbox)) ?? {}
    await arrivals.arrive(inbox, calendarFile('REPLY', answerOn(uid, '08'), answerOn(uid, '09')), { from: ADA })
    expect(await statusOn(inbox, event_id, '08')).toMatchObject([{ status: 'needs_action' }])
    await arrivals.arrive(inbox, calendarFile('REPLY', answerOn(uid, '08')), { from: ADA })
    expect(await statusOn(inbox, event_id, '08')).toMatchObject([{ status: 'declined' }])
  })

  it('answer as many dates as can be edited, no more', async () => {
    const inbox = fixture.inbox()
    const { uid = '', event_id = '' } = (await invite(inbox)) ?? {}
    const { inbox_uid, organization_id } = inbox
    await fixture.db.query(ADD, event_id, inbox_uid, organization_id, CALENDAR_LIMITS.singleEdits - 1)
    await arrivals.arrive(inbox, calendarFile('REPLY', answerOn(uid, '08')), { from: ADA })
    await arrivals.arrive(inbox, calendarFile('REPLY', answerOn(uid, '09')), { from: ADA })
    expect(await statusOn(inbox, event_id, '08')).toMatchObject([{ status: 'declined' }])
    expect(await statusOn(inbox, event_id, '09')).toMatchObject([{ status: 'needs_action' }])
  })

  const days = Array.from({ length: 31 }, (_, day) => String(day + 1).padStart(2, '0'))
  const seriesOf = (inbox: TestInbox, uid: string) => ({
    ...usual(inbox, uid),
    DTSTART: '20271001T090000Z',
    DTEND: '20271001T100000Z',
    RRULE: 'FREQ=DAILY;COUNT=80',
  })
  const movedOn = (inbox: TestInbox, uid: string, month: string, day: string) =>
    vevent({
      ...usual(inbox, uid),
      'RECURRENCE-ID': `2027${month}${day}T090000Z`,
      DTSTART: `2027${month}${day}T110000Z`,
      DTEND: `2027${month}${day}T120000Z`,
    })

  it('change each of 49 dates of a series, and tell of each once', async () => {
    const inbox = fixture.inbox()
    const dates = [...days.map((day) => ['10', day]), ...days.slice(0, 18).map((day) => ['11', day])]
    const changed = dates.map(([month = '', day = '']) => movedOn(inbox, 'a', month, day))
    await arrivals.arrive(inbox, calendarFile('REQUEST', vevent(seriesOf(inbox, 'a')), ...changed))
    const told = await arrivals.told(inbox, 50)
    expect(told).toEqual(Array.from({ length: 50 }, () => 'calendar.event.created'))
    const agenda = await arrivals.agendaOf(inbox)
    expect(agenda.map(({ start }) => start)).toEqual(days.map((day) => `2027-10-${day}T11:00:00`))
  })

  it('change nothing where they are more than 50', async () => {
    const inbox = fixture.inbox()
    const dates = [...days.map((day) => ['10', day]), ...days.slice(0, 19).map((day) => ['11', day])]
    const changed = dates.map(([month = '', day = '']) => movedOn(inbox, 'a', month, day))
    await arrivals.arrive(inbox, calendarFile('REQUEST', vevent(seriesOf(inbox, 'a')), ...changed))
    await arrivals.arrive(inbox, calendarFile('REQUEST', ...changed, movedOn(inbox, 'a', '12', '01')))
    expect(await arrivals.eventsOf(inbox)).toEqual([])
    await arrivals.arrive(inbox, request(seriesOf(inbox, 'a')))
    const before = await arrivals.agendaOf(inbox)
    await arrivals.arrive(inbox, calendarFile('CANCEL', ...changed, movedOn(inbox, 'a', '12', '01')))
    expect(await arrivals.agendaOf(inbox)).toEqual(before)
  })

  it('make at most 100 events of the dates of an unknown series', async () => {
    const inbox = fixture.inbox()
    const uid = randomUUID()
    for (const month of ['01', '03', '05', '07']) {
      const dates = days.map((day) => movedOn(inbox, uid, month, day))
      await arrivals.arrive(inbox, calendarFile('REQUEST', ...dates))
    }
    const [{ count = 0 } = {}] = await fixture.db.query(COUNT, inbox.inbox_uid)
    expect(count).toBe(100)
  })
})

const COUNT = sql<{ count: number }, [inboxUid: string]>(
  'select count(*)::int as count from events where inbox_uid = $1',
)
