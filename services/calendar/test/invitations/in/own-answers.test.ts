import type { CalendarFixture } from '../../support/fixture.ts'
import type { TestInbox } from '../../support/tenant.ts'
import { type Arrivals, cancel, request, startArrivals, usual } from './arrivals.ts'
import { calendarFile, vevent } from './files.ts'

let fixture: CalendarFixture
let arrivals: Arrivals
beforeAll(async () => {
  arrivals = await startArrivals()
  fixture = arrivals.fixture
})
afterAll(() => fixture.stop())

const accept = (inbox: TestInbox, event_id = '') =>
  fixture.call('calendarEvents.respond', inbox, {
    params: { event_id },
    body: { status: 'accepted', send_reply: false },
  })
const answersOf = async (inbox: TestInbox) =>
  (await arrivals.agendaOf(inbox)).map(({ response_status }) => response_status)
const series = (inbox: TestInbox) => ({ ...usual(inbox, 'a'), RRULE: 'FREQ=DAILY;COUNT=3' })
const later = (sequence: number) => ({ SEQUENCE: String(sequence), DTSTAMP: `2026100${sequence}T080000Z` })

describe('what an inbox answered about a date', () => {
  const invited = async () => {
    const inbox = fixture.inbox()
    await arrivals.arrive(inbox, request(series(inbox)))
    const [, second] = await arrivals.agendaOf(inbox)
    expect((await accept(inbox, second?.event_id)).status).toBe(200)
    expect(await answersOf(inbox)).toEqual(['needs_action', 'accepted', 'needs_action'])
    return inbox
  }

  it('is kept by a new version with the same times, and forgotten by one with others', async () => {
    const inbox = await invited()
    await arrivals.arrive(inbox, request({ ...series(inbox), ...later(2), SUMMARY: 'Dinner' }))
    expect(await answersOf(inbox)).toEqual(['needs_action', 'accepted', 'needs_action'])
    await arrivals.arrive(inbox, request({ ...series(inbox), ...later(3), DTEND: '20271007T120000Z' }))
    expect(await answersOf(inbox)).toEqual(['needs_action', 'needs_action', 'needs_action'])
  })

  it('is kept by a change of the date with the same times, and forgotten by one with others', async () => {
    const inbox = await invited()
    const date = {
      ...usual(inbox, 'a'),
      'RECURRENCE-ID': '20271008T090000Z',
      DTSTART: '20271008T090000Z',
      DTEND: '20271008T100000Z',
    }
    const moved = await invited()
    await arrivals.arrive(moved, request({ ...date, ATTENDEE: `mailto:${moved.address}`, DTEND: '20271008T120000Z' }))
    expect(await answersOf(moved)).toEqual(['needs_action', 'needs_action', 'needs_action'])
    await arrivals.arrive(inbox, request({ ...date, SUMMARY: 'Dinner' }))
    expect(await answersOf(inbox)).toEqual(['needs_action', 'accepted', 'needs_action'])
    await arrivals.arrive(inbox, request({ ...series(inbox), ...later(3), DTEND: '20271007T120000Z' }))
    expect(await answersOf(inbox)).toEqual(['needs_action', 'needs_action', 'needs_action'])
  })
})

describe('an attendee who is the inbox', () => {
  it.each([
    ['in capitals', (address: string) => address.toUpperCase()],
    ['with its domain in ASCII', (address: string) => address.replace('bücher', 'xn--bcher-kva')],
  ])('is stored as the inbox is written here when the file has it %s', async (_, written) => {
    const plain = fixture.inbox()
    const address = plain.address.replace('@restante.test', '@bücher.test')
    const inbox = { ...plain, address, asCaller: { ...plain.asCaller, address } }
    fixture.peers.inboxes.set(inbox.inbox_uid, inbox)
    await arrivals.arrive(inbox, request({ ...usual(inbox, 'a'), ATTENDEE: `mailto:${written(address)}` }))
    const [event] = await arrivals.eventsOf(inbox)
    expect(event).toMatchObject({ response_status: 'needs_action' })
    expect((await accept(inbox, event?.event_id)).status).toBe(200)
    expect(await arrivals.eventsOf(inbox)).toMatchObject([{ response_status: 'accepted', attendee_count: 1 }])
  })
})

describe('a stamp that no time has', () => {
  it.each(['00000101T000000Z', '18991231T235959Z', '99991399T000000Z'])('counts as none: %s', async (stamp) => {
    const inbox = fixture.inbox()
    await arrivals.arrive(inbox, request({ ...usual(inbox, 'a'), DTSTAMP: stamp }))
    expect(await arrivals.eventsOf(inbox)).toMatchObject([{ title: 'Lunch' }])
  })
})

describe('a cancellation of a date and its unknown series', () => {
  it('changes the date once', async () => {
    const inbox = fixture.inbox()
    const date = { ...usual(inbox, 'a'), 'RECURRENCE-ID': '20271007T090000Z' }
    await arrivals.arrive(inbox, request(date))
    await arrivals.arrive(
      inbox,
      calendarFile('CANCEL', ...[usual(inbox, 'a'), date].map((one) => vevent({ ...one, ...later(2) }))),
    )
    await arrivals.arrive(inbox, cancel({ ...date, ...later(3) }))
    const [event] = await arrivals.eventsOf(inbox)
    expect(event).toMatchObject({ status: 'cancelled', resource_revision: 2 })
    const types = ['created', 'updated', 'updated'].map((name) => `calendar.event.${name}`)
    expect(await arrivals.told(inbox, 3)).toEqual(types)
  })
})
