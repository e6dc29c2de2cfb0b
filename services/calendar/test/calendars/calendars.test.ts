import { type CalendarFixture, startCalendar } from '../support/fixture.ts'

let calendars: CalendarFixture
beforeAll(async () => {
  calendars = await startCalendar()
})
afterAll(() => calendars.stop())

const timezone = 'Europe/Berlin'
const matching = (tag: string) => ({ headers: { 'if-match': tag } })

it('shows the calendar of a new inbox, with its tag in the header', async () => {
  const inbox = calendars.inbox()
  const { status, headers, body } = await calendars.call('calendars.get', inbox, { query: { consistency: 'primary' } })
  expect(status).toBe(200)
  const { created_at } = inbox.asCaller
  expect(body).toEqual({
    inbox_id: inbox.address,
    timezone: 'UTC',
    event_count: 0,
    created_at,
    updated_at: created_at,
    etag: '"rv-0"',
  })
  expect(headers.get('etag')).toBe('"rv-0"')
})

it('refuses another consistency than there is', async () => {
  const { status, body } = await calendars.call('calendars.get', calendars.inbox(), {
    query: { consistency: 'strong' },
  })
  expect(status).toBe(400)
  expect(body.errors).toMatchObject([{ path: ['consistency'] }])
})

it('sets the time zone, and makes no revision of the same one', async () => {
  const inbox = calendars.inbox()
  const first = await calendars.call('calendars.update', inbox, { body: { timezone } })
  expect(first).toMatchObject({ status: 200, body: { timezone, etag: '"rv-1"' } })
  expect(first.headers.get('etag')).toBe('"rv-1"')
  const same = await calendars.call('calendars.update', inbox, { body: { timezone } })
  expect(same).toMatchObject({ status: 200, body: first.body })
  expect(await calendars.call('calendars.get', inbox)).toMatchObject({ body: first.body })
})

it('refuses what is no name of the time zone database, in its letters', async () => {
  for (const name of ['europe/berlin', 'W. Europe Standard Time', '+02:00', 'Mars/Olympus', 7, null]) {
    const { status, body } = await calendars.call('calendars.update', calendars.inbox(), { body: { timezone: name } })
    expect({ name, status }).toEqual({ name, status: 400 })
    expect(body.errors).toMatchObject([{ path: ['timezone'] }])
  }
})

it('changes only the version that a request names, and says which there is', async () => {
  const inbox = calendars.inbox()
  const update = (name: string, options?: { headers: Record<string, string> }) =>
    calendars.call('calendars.update', inbox, { body: { timezone: name }, ...options })
  expect((await update(timezone, matching('"rv-0"'))).status).toBe(200)
  const stale = await update('Asia/Tokyo', matching('"rv-0"'))
  expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed', current_revision: 1 } })
  expect((await update('Asia/Tokyo', matching('W/"rv-1"'))).status).toBe(200)
  expect((await update(timezone, matching('*'))).status).toBe(200)
  expect((await update('Asia/Tokyo', matching('rv-3'))).status).toBe(400)
  expect(await calendars.call('calendars.get', inbox)).toMatchObject({ body: { timezone, etag: '"rv-3"' } })
})

it('makes one change of several with one version at a time', async () => {
  const inbox = calendars.inbox()
  const zones = ['Asia/Tokyo', 'Asia/Dubai', 'Africa/Cairo', 'Europe/Rome']
  const answers = await Promise.all(
    zones.map((name) => calendars.call('calendars.update', inbox, { body: { timezone: name }, ...matching('"rv-0"') })),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412])
})

it('refuses a body above 8 KB', async () => {
  const body = { timezone, more: 'x'.repeat(8 * 1_024) }
  const answer = await calendars.call('calendars.update', calendars.inbox(), { body })
  expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
})
