import type { CalendarFixture } from '../../support/fixture.ts'
import type { TestInbox } from '../../support/tenant.ts'
import { type Arrivals, startArrivals } from './arrivals.ts'
import { calendarFile, vevent } from './files.ts'

let fixture: CalendarFixture
let arrivals: Arrivals
beforeAll(async () => {
  arrivals = await startArrivals()
  fixture = arrivals.fixture
})
afterAll(() => fixture.stop())

describe('received answers', () => {
  const invite = async (inbox: TestInbox) => {
    const attendees = [{ email: 'ada@customer.test' }]
    const recurrence = { rule: 'FREQ=DAILY;COUNT=3' }
    const body = { title: 'Own', start: '2027-10-07T09:00:00', end: '2027-10-07T10:00:00', attendees, recurrence }
    return (await fixture.call('calendarEvents.create', inbox, { body })).body.event
  }
  const reply = (uid: string, partstat: string, given: Record<string, string> = {}, by = 'ada@customer.test') =>
    calendarFile(
      'REPLY',
      vevent(
        { UID: uid, DTSTAMP: '20261001T080000Z', SEQUENCE: '0', ...given },
        `ATTENDEE;PARTSTAT=${partstat}:mailto:${by}`,
        'COMMENT:On my way',
      ),
    )
  const read = async (inbox: TestInbox, event_id: string) =>
    (await fixture.call('calendarEvents.get', inbox, { params: { event_id } })).body

  it('change the status of the attendee, of all dates or of one', async () => {
    const inbox = fixture.inbox()
    const own = await invite(inbox)
    await arrivals.arrive(inbox, reply(own?.uid ?? '', 'ACCEPTED'), { from: 'Ada@customer.test' })
    const after = await read(inbox, own?.event_id ?? '')
    expect(after.attendees).toMatchObject([
      { status: 'accepted', comment: 'On my way', responded_at: '2026-10-01T08:00:00.000Z' },
    ])
    expect(after).toMatchObject({ sequence: 0, resource_revision: 1 })
    await arrivals.arrive(inbox, reply(own?.uid ?? '', 'DECLINED', { 'RECURRENCE-ID': '20271008T090000Z' }), {
      from: 'ada@customer.test',
    })
    expect(await read(inbox, `${own?.event_id}_t20271008T090000`)).toMatchObject({
      attendees: [{ status: 'declined' }],
    })
    expect(await read(inbox, `${own?.event_id}_t20271009T090000`)).toMatchObject({
      attendees: [{ status: 'accepted' }],
    })
  })

  it('change nothing of strangers, for others, replayed, or about earlier times', async () => {
    const inbox = fixture.inbox()
    const own = await invite(inbox)
    await arrivals.arrive(inbox, reply(own?.uid ?? '', 'ACCEPTED'), { from: 'ada@customer.test' })
    const before = await read(inbox, own?.event_id ?? '')
    await arrivals.arrive(inbox, reply(own?.uid ?? '', 'DECLINED', { DTSTAMP: '20261002T080000Z' }, 'eve@evil.test'), {
      from: 'eve@evil.test',
    })
    await arrivals.arrive(inbox, reply(own?.uid ?? '', 'DECLINED', { DTSTAMP: '20261002T080000Z' }), {
      from: 'eve@evil.test',
    })
    await arrivals.arrive(inbox, reply(own?.uid ?? '', 'DECLINED', { DTSTAMP: '20260901T080000Z' }), {
      from: 'ada@customer.test',
    })
    await arrivals.arrive(inbox, reply(own?.uid ?? '', 'ACCEPTED'), { from: 'ada@customer.test' })
    await arrivals.arrive(inbox, reply('other', 'DECLINED', { DTSTAMP: '20261002T080000Z' }), {
      from: 'ada@customer.test',
    })
    expect(await read(inbox, own?.event_id ?? '')).toEqual(before)
    const moved = { start: '2027-10-07T10:00:00', end: '2027-10-07T11:00:00' }
    await fixture.call('calendarEvents.update', inbox, { params: { event_id: own?.event_id ?? '' }, body: moved })
    await arrivals.arrive(inbox, reply(own?.uid ?? '', 'DECLINED', { DTSTAMP: '20261002T080000Z' }), {
      from: 'ada@customer.test',
    })
    expect(await read(inbox, own?.event_id ?? '')).toMatchObject({ attendees: [{ status: 'accepted' }] })
  })
})
