import { waitFor } from '@restante/testkit'
import { type CalendarFixture, startCalendar } from '../support/fixture.ts'

let calendar: CalendarFixture
beforeAll(async () => {
  calendar = await startCalendar({ CALENDAR_EVENTS: '3' })
})
afterAll(() => calendar.stop())

const meeting = { title: 'Meeting', start: '2030-01-07T09:00:00', end: '2030-01-07T10:00:00' }
const weekly = { ...meeting, recurrence: { rule: 'RRULE:freq=weekly;byday=mo;interval=1' } }
const guests = [{ email: 'Ann@Example.com', name: 'Ann' }, { email: 'bob@example.com' }]

function create(inbox: ReturnType<CalendarFixture['inbox']>, body: object) {
  return calendar.call('calendarEvents.create', inbox, { body })
}

it('creates an event in the zone of the calendar, and publishes it', async () => {
  const inbox = calendar.inbox()
  await calendar.call('calendars.update', inbox, { body: { timezone: 'Europe/Berlin' } })
  const { status, headers, body } = await create(inbox, { ...meeting, attendees: guests, metadata: { deal: 7 } })
  expect(status).toBe(201)
  expect(body.event).toMatchObject({
    kind: 'single',
    timezone: 'Europe/Berlin',
    start_at: '2030-01-07T08:00:00Z',
    end_at: '2030-01-07T09:00:00Z',
    duration_mode: 'exact',
    duration_value: 3_600_000,
    status: 'confirmed',
    attendees: [
      { email: 'ann@example.com', name: 'Ann', status: 'needs_action', role: 'required' },
      { email: 'bob@example.com', status: 'needs_action', role: 'required' },
    ],
    attendee_count: 2,
    uid: `${body.event?.event_id}@restante.test`,
    sequence: 0,
    resource_revision: 0,
    source: 'api',
    organizer_email: inbox.address,
    etag: '"rv-0"',
  })
  expect(headers.get('etag')).toBe('"rv-0"')
  const [event] = await waitFor(() => nonEmpty(calendar.publicEvents(inbox)), { what: 'it to arrive' })
  const { etag, ...shown } = body.event ?? {}
  expect(event).toEqual({
    type: 'event',
    event_type: 'calendar.event.created',
    event_id: body.operation_id,
    inbox_id: inbox.address,
    calendar_event: shown,
  })
  const { body: settings } = await calendar.call('calendars.get', inbox)
  expect(settings).toMatchObject({ event_count: 1, etag: '"rv-1"' })
})

it('writes the rule of a series in its normal form', async () => {
  const { body } = await create(calendar.inbox(), weekly)
  expect(body.event).toMatchObject({ kind: 'series', recurrence: { rule: 'FREQ=WEEKLY;BYDAY=MO' } })
  expect(body.event).toMatchObject({ duration_mode: 'nominal' })
})

it.each([
  ['an end before its start', { end: meeting.start }, ['end']],
  ['a zone that does not exist', { timezone: 'Berlin' }, ['timezone']],
  ['an offset as a zone', { timezone: '+01:00' }, ['timezone']],
  ['a day in place of a time', { start: '2030-01-07' }, ['start']],
  ['a length of a year and more', { end: '2031-02-07T09:00:00' }, ['end']],
  [
    'two attendees with one address',
    { attendees: [guests[0], { email: 'ann@example.com' }] },
    ['attendees', 1, 'email'],
  ],
  ['an attendee without an address', { attendees: [{ email: 'Ann <ann@example.com>' }] }, ['attendees', 0, 'email']],
  ['a start that the rule does not make', { recurrence: { rule: 'FREQ=WEEKLY;BYDAY=TU' } }, ['recurrence', 'rule']],
  ['a control character in the title', { title: 'a\u0007b' }, ['title']],
])('refuses %s', async (_, fields, path) => {
  const { status, body } = await create(calendar.inbox(), { ...meeting, ...fields })
  expect(status).toBe(400)
  expect(body).toMatchObject({ code: 'validation_error', errors: [{ path }] })
})

it('answers a repeated client_id with the event as it is now, and refuses another body', async () => {
  const inbox = calendar.inbox()
  const body = { ...meeting, client_id: 'once', attendees: guests, send_invites: true }
  const first = await create(inbox, body)
  const id = first.body.event?.event_id ?? ''
  await calendar.call('calendarEvents.update', inbox, { params: { event_id: id }, body: { title: 'Renamed' } })
  const charged = calendar.peers.charged.size
  const second = await create(inbox, { ...body, description: null })
  expect([first.status, second.status]).toEqual([201, 200])
  expect(second.body).toMatchObject({
    operation_id: first.body.operation_id,
    event: { event_id: id, title: 'Renamed', etag: '"rv-1"' },
  })
  expect(calendar.peers.charged.size).toBe(charged)
  const other = await create(inbox, { ...body, title: 'Other' })
  expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict'])
  await calendar.call('calendarEvents.delete', inbox, { params: { event_id: id } })
  expect((await create(inbox, body)).status).toBe(404)
})

it('creates one event for parallel requests with one client_id', async () => {
  const inbox = calendar.inbox()
  const answers = await Promise.all(Array.from({ length: 5 }, () => create(inbox, { ...meeting, client_id: 'same' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
  expect(new Set(answers.map(({ body }) => body.event?.event_id)).size).toBe(1)
})

it('charges parallel requests with one client_id once, and others with the same recipients again', async () => {
  const inbox = calendar.inbox()
  const before = new Set(calendar.peers.charged.keys())
  const ids = () => [...calendar.peers.charged.keys()].filter((id) => !before.has(id))
  const body = { ...meeting, attendees: guests, send_invites: true, client_id: 'charged' }
  const answers = await Promise.all(Array.from({ length: 4 }, () => create(inbox, body)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201])
  expect(ids()).toHaveLength(1)
  await create(inbox, { ...body, client_id: 'other' })
  await create(calendar.inbox(), body)
  expect(ids()).toHaveLength(3)
})

it('refuses an event above the limit of the calendar', async () => {
  const inbox = calendar.inbox()
  for (let count = 0; count < 3; count++) await create(inbox, meeting)
  const { status, body } = await create(inbox, meeting)
  expect([status, body.code]).toEqual([409, 'race_condition'])
  expect((await calendar.call('calendars.get', inbox)).body).toMatchObject({ event_count: 3 })
})

it('charges and mails an invitation to each attendee but the inbox', async () => {
  const inbox = calendar.inbox()
  const attendees = [...guests, { email: inbox.address }]
  const { body } = await create(inbox, { ...meeting, attendees, send_invites: true })
  expect(calendar.peers.charged.get(body.operation_id ?? '')).toEqual(['ann@example.com', 'bob@example.com'])
  const mine = () => calendar.peers.sent.filter(({ inbox_uid }) => inbox_uid === inbox.inbox_uid)
  const sent = await waitFor(() => (mine().length === 2 ? mine() : undefined), { what: 'it to arrive' })
  expect(sent.map(({ to, subject, method }) => [to, subject, method]).sort()).toEqual([
    ['ann@example.com', 'Invitation: Meeting', 'REQUEST'],
    ['bob@example.com', 'Invitation: Meeting', 'REQUEST'],
  ])
})

it('stores nothing when the invitations exceed a limit', async () => {
  const inbox = calendar.inbox()
  calendar.peers.answers = {
    'mail-send.chargeInvitations': () => ({ outcome: 'limited', message: 'Too many', retry_after: 60, details: {} }),
  }
  const { status, headers, body } = await create(inbox, { ...meeting, attendees: guests, send_invites: true })
  calendar.peers.answers = {}
  expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '60'])
  expect((await calendar.call('calendars.get', inbox)).body).toMatchObject({ event_count: 0 })
})

it('charges and mails nothing from a paused inbox', async () => {
  const inbox = calendar.inbox()
  const charged = calendar.peers.charged.size
  const { status } = await calendar.call('calendarEvents.create', inbox, {
    body: { ...meeting, attendees: guests, send_invites: true },
    caller: { inbox: { ...inbox.asCaller, paused: true } },
  })
  expect(status).toBe(201)
  expect(calendar.peers.charged.size).toBe(charged)
  expect(
    await calendar.db.query({ text: `select 1 from outgoing_mails where inbox_uid = '${inbox.inbox_uid}'` }),
  ).toEqual([])
})

function nonEmpty<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined
}
