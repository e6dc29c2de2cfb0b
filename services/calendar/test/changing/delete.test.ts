import { Schedule } from '@restante/jobs'
import { Outbox } from '@restante/messaging'
import { waitFor } from '@restante/testkit'
import { createEvent } from '../../src/changing/writes.ts'
import type { CalendarTimers } from '../../src/timers/kinds.ts'
import { type Answer, type CalendarFixture, type CallOptions, startCalendar } from '../support/fixture.ts'
import { callerFor, type TestInbox } from '../support/tenant.ts'

let calendar: CalendarFixture
beforeAll(async () => {
  calendar = await startCalendar()
})
afterAll(() => calendar.stop())

const meeting = { title: 'Meeting', start: '2030-01-07T09:00:00', end: '2030-01-07T10:00:00' }
const weekly = { ...meeting, recurrence: { rule: 'FREQ=WEEKLY' }, description: 'Every week' }

async function eventOf(body: object) {
  const inbox = calendar.inbox()
  const { body: created } = await calendar.call('calendarEvents.create', inbox, { body })
  const id = created.event?.event_id ?? ''
  return { inbox, id, date: (slot: string) => `${id}_t${slot.replaceAll(/[-:]/g, '')}` }
}

function remove(inbox: TestInbox, id: string, options: CallOptions = {}): Promise<Answer> {
  return calendar.call('calendarEvents.delete', inbox, { params: { event_id: id }, ...options })
}

function get(inbox: TestInbox, id: string): Promise<Answer> {
  return calendar.call('calendarEvents.get', inbox, { params: { event_id: id } })
}

it('deletes an event at once, and answers the same when it is repeated soon', async () => {
  const { inbox, id } = await eventOf(meeting)
  const first = await remove(inbox, id)
  const second = await remove(inbox, id)
  expect([first.status, second.status]).toEqual([202, 202])
  expect(second.body).toEqual(first.body)
  expect(Object.keys(first.body)).toEqual(['deletion_id'])
  expect((await get(inbox, id)).status).toBe(404)
  expect((await remove(inbox, id, { query: { send_invites: 'true' } })).status).toBe(404)
  expect((await calendar.call('calendars.get', inbox)).body).toMatchObject({ event_count: 0 })
  const told = await waitFor(() => calendar.publicEvents(inbox)[1], { what: 'the event' })
  expect(told).toMatchObject({
    event_type: 'calendar.event.deleted',
    event_id: first.body.deletion_id,
    calendar_event: { title: 'Meeting' },
  })
})

it('takes one date out of its series, and shows it as cancelled', async () => {
  const { inbox, id, date } = await eventOf(weekly)
  const { status, body, headers } = await remove(inbox, date('2030-01-14T09:00:00'))
  expect(status).toBe(202)
  expect(body.event).toMatchObject({ event_id: date('2030-01-14T09:00:00'), status: 'cancelled' })
  expect(body.event).not.toHaveProperty('description')
  expect(body.event).not.toHaveProperty('attendees')
  expect(headers.get('etag')).toBe(body.event?.etag)
  expect((await get(inbox, id)).body['recurrence']).toEqual({ rule: 'FREQ=WEEKLY', exdates: ['2030-01-14T09:00:00'] })
  const shown = await get(inbox, date('2030-01-14T09:00:00'))
  expect([shown.status, shown.body['status']]).toEqual([200, 'cancelled'])
  const again = await remove(inbox, date('2030-01-14T09:00:00'))
  expect([again.status, again.body.code]).toEqual([410, 'event_expired'])
})

it('ends a series before a date, and deletes it before its first', async () => {
  const { inbox, id, date } = await eventOf(weekly)
  const query = { mode: 'future' }
  const { body } = await remove(inbox, date('2030-01-21T09:00:00'), { query })
  expect(body.event).toMatchObject({ status: 'cancelled' })
  expect((await get(inbox, id)).body['recurrence']).toMatchObject({ truncate_before: '2030-01-21T09:00:00' })
  expect((await get(inbox, date('2030-01-28T09:00:00'))).body['status']).toBe('cancelled')
  const { body: whole } = await remove(inbox, date('2030-01-07T09:00:00'), { query })
  expect(Object.keys(whole)).toEqual(['deletion_id'])
  expect((await get(inbox, id)).status).toBe(404)
})

it('answers a repeated Idempotency-Key as the first time, and refuses it for another target', async () => {
  const { inbox, date } = await eventOf(weekly)
  const headers = { 'idempotency-key': 'once' }
  const first = await remove(inbox, date('2030-01-14T09:00:00'), { headers })
  const second = await remove(inbox, date('2030-01-14T09:00:00'), { headers })
  expect(second.body).toEqual(first.body)
  const other = await remove(inbox, date('2030-01-21T09:00:00'), { headers })
  expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict'])
})

it('charges a deletion that is repeated with its key once', async () => {
  const { inbox, date } = await eventOf({ ...weekly, attendees: [{ email: 'ann@example.com' }] })
  const before = calendar.peers.charged.size
  const query = { send_invites: 'true' }
  const once = () => remove(inbox, date('2030-01-14T09:00:00'), { query, headers: { 'idempotency-key': 'charged' } })
  const answers = await Promise.all([once(), once(), once()])
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
  await remove(inbox, date('2030-01-21T09:00:00'), { query, headers: { 'idempotency-key': 'other' } })
  expect(calendar.peers.charged.size).toBe(before + 2)
})

it('mails the cancellation to every attendee', async () => {
  const { inbox, id } = await eventOf({ ...meeting, attendees: [{ email: 'ann@example.com' }] })
  const { body } = await remove(inbox, id, { query: { send_invites: 'true' } })
  expect(body.deletion_id).toBeDefined()
  expect([...calendar.peers.charged.values()].at(-1)).toEqual(['ann@example.com'])
  const sent = await waitFor(() => calendar.peers.sent.find(({ inbox_uid }) => inbox_uid === inbox.inbox_uid), {
    what: 'the mail',
  })
  expect(sent).toMatchObject({ method: 'CANCEL', subject: 'Canceled: Meeting' })
  expect(sent.calendar).toMatch(/STATUS:CANCELLED/)
})

describe('an invitation of somebody else', () => {
  async function invited(rule: string | null = null) {
    const inbox = calendar.inbox()
    const { organization_id } = callerFor(inbox)
    const attendees = [{ email: inbox.address, status: 'needs_action', role: 'required' } as const]
    const schedule = { all_day: false, start: meeting.start, timezone: 'UTC', duration_mode: 'exact' } as const
    const deps = {
      outbox: new Outbox({ db: calendar.db, service: 'calendar' }),
      timers: new Schedule<CalendarTimers>(),
      mostEvents: 10,
    }
    const place = { organization_id, pod_id: inbox.pod_id, inbox_uid: inbox.inbox_uid, take_overs: 0 }
    const texts = { title: 'Theirs', description: null, location: null, metadata: null, status: 'confirmed' } as const
    const origin = { source: 'email', organizer_email: 'boss@example.org', uid: 'theirs@example.org' } as const
    const state = await calendar.db.transaction((tx) =>
      createEvent(
        tx,
        deps,
        {
          ...place,
          ...texts,
          ...origin,
          ...schedule,
          duration_value: 3_600_000,
          attendees,
          rule,
          exdates: [],
          rdates: [],
        },
        {
          operationId: crypto.randomUUID(),
          at: new Date(),
          address: inbox.address,
          mail: { message_id: '<m1@example.org>', stamped_at: new Date(), sequence: 2 },
        },
      ),
    )
    return { inbox, id: state.event.id }
  }

  function answer(inbox: TestInbox, id: string, body: object): Promise<Answer> {
    return calendar.call('calendarEvents.respond', inbox, { params: { event_id: id }, body })
  }

  it('is answered, and the organizer gets the answer in reply', async () => {
    const { inbox, id } = await invited()
    const { status, body } = await answer(inbox, id, { status: 'accepted', comment: 'Gladly' })
    expect(status).toBe(200)
    expect(body.event).toMatchObject({
      response_status: 'accepted',
      sequence: 2,
      resource_revision: 1,
      attendees: [{ email: inbox.address, status: 'accepted', comment: 'Gladly' }],
    })
    const sent = await waitFor(() => calendar.peers.sent.find(({ inbox_uid }) => inbox_uid === inbox.inbox_uid), {
      what: 'the mail',
    })
    expect(sent).toMatchObject({ to: 'boss@example.org', method: 'REPLY', in_reply_to: '<m1@example.org>' })
    const told = await waitFor(() => calendar.publicEvents(inbox)[1], { what: 'the event' })
    expect(told).toMatchObject({ event_type: 'calendar.event.responded', event_id: body.operation_id })
  })

  it('is answered for one date, until all dates are answered', async () => {
    const { inbox, id } = await invited('FREQ=WEEKLY')
    const date = `${id}_t20300114T090000`
    const { body } = await answer(inbox, date, { status: 'declined', send_reply: false })
    expect(body.event).toMatchObject({ response_status: 'declined', is_exception: false })
    expect((await get(inbox, id)).body['response_status']).toBe('needs_action')
    await answer(inbox, id, { status: 'tentative', send_reply: false })
    expect((await get(inbox, date)).body['response_status']).toBe('tentative')
    expect(calendar.peers.sent.some(({ inbox_uid }) => inbox_uid === inbox.inbox_uid)).toBe(false)
  })

  it('keeps the sequences of its organizer through changes of the own copy', async () => {
    const { inbox, id } = await invited('FREQ=WEEKLY')
    const update = (of: string, body: object, query = {}) =>
      calendar.call('calendarEvents.update', inbox, { params: { event_id: of }, query, body })
    await update(id, { title: 'Mine', start: '2030-01-07T10:00:00', end: '2030-01-07T11:00:00' })
    await update(`${id}_t20300114T100000`, { title: 'Mine alone' })
    await update(`${id}_t20300121T100000`, { location: 'Here' }, { mode: 'future' })
    await remove(inbox, `${id}_t20300204T100000`)
    await remove(inbox, `${id}_t20300211T100000`, { query: { mode: 'future' } })
    expect((await get(inbox, id)).body).toMatchObject({ title: 'Mine', sequence: 2 })
    const text = `select sequence, time_sequence from events where id = '${id}'
      union all select sequence, 2 from edits where event_id = '${id}'`
    expect(await calendar.db.query({ text })).toEqual([
      { sequence: 2, time_sequence: 2 },
      { sequence: 0, time_sequence: 2 },
      { sequence: 0, time_sequence: 2 },
    ])
  })

  it('cannot be mailed to its attendees, and not be answered when it is cancelled', async () => {
    const { inbox, id } = await invited()
    const update = (body: object) => calendar.call('calendarEvents.update', inbox, { params: { event_id: id }, body })
    expect((await update({ title: 'Mine', send_invites: true })).body.code).toBe('calendar_response_invalid')
    await update({ status: 'cancelled' })
    expect((await answer(inbox, id, { status: 'accepted' })).body.code).toBe('calendar_response_invalid')
  })
})

it('has no answer of the inbox to its own event', async () => {
  const { inbox, id } = await eventOf(meeting)
  const { status, body } = await calendar.call('calendarEvents.respond', inbox, {
    params: { event_id: id },
    body: { status: 'accepted' },
  })
  expect([status, body.code]).toEqual([409, 'calendar_response_invalid'])
})
