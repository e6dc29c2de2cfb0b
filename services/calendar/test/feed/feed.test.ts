import { type CalendarFixture, startCalendar } from '../support/fixture.ts'
import { callerFor, type TestInbox } from '../support/tenant.ts'

let calendars: CalendarFixture
beforeAll(async () => {
  calendars = await startCalendar()
})
afterAll(() => calendars.stop())

/** The path of a new feed at the service, which the gateway asks without its prefix. */
async function newFeed(inbox: TestInbox): Promise<string> {
  const { status, body } = await calendars.call('calendars.createFeed', inbox)
  expect(status).toBe(201)
  const url = String(body['url'])
  expect(url).toMatch(/^http:\/\/public\.test\/v0\/calendar-feeds\/[\w-]{43}\.ics$/)
  expect(body['created_at']).toMatch(/^\d{4}-.*\.\d{3}Z$/)
  return new URL(url).pathname.replace('/v0', '')
}

const read = (path: string) => fetch(calendars.url + path)

it('shows a calendar to whoever has its address, without a key', async () => {
  const inbox = calendars.inbox()
  const feed = await newFeed(inbox)
  for (const path of [feed, feed.replace('.ics', '')]) {
    const answer = await read(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8')
    const text = await answer.text()
    expect(text).toMatch(/^BEGIN:VCALENDAR\r\n/)
    expect(text).toMatch(new RegExp(`^X-WR-CALNAME:${inbox.address}\\r$`, 'm'))
  }
  const head = await fetch(calendars.url + feed, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

it('is made only for a key that may read the events, and leaves the address before as it is for others', async () => {
  const inbox = calendars.inbox()
  const feed = await newFeed(inbox)
  const { credential } = callerFor(inbox)
  const caller = { credential: { ...credential, permissions: ['calendar_update'] } }
  expect(await calendars.call('calendars.createFeed', inbox, { caller })).toMatchObject({
    status: 403,
    body: { code: 'missing_permission' },
  })
  expect((await read(feed)).status).toBe(200)
})

it('ends an address with the next one, and with its deletion', async () => {
  const inbox = calendars.inbox()
  const [first, second] = [await newFeed(inbox), await newFeed(inbox)]
  expect([(await read(first)).status, (await read(second)).status]).toEqual([404, 200])
  expect((await calendars.call('calendars.deleteFeed', inbox)).status).toBe(204)
  expect((await read(second)).status).toBe(404)
  expect(await calendars.call('calendars.deleteFeed', inbox)).toMatchObject({
    status: 404,
    body: { message: 'Feed not found' },
  })
})

it('answers an unknown address like an ended one', async () => {
  const ended = await newFeed(calendars.inbox())
  await calendars.call('calendars.createFeed', calendars.inbox())
  for (const path of [ended.replace(/.{47}$/, `${'A'.repeat(43)}.ics`), '/calendar-feeds/x', '/calendar-feeds/.ics']) {
    const answer = await read(path)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ code: 'not_found', message: 'Feed not found' })
  }
})

it('stores no address of a feed', async () => {
  const inbox = calendars.inbox()
  const token = (await newFeed(inbox)).slice(-47, -4)
  const { rows } = await calendars.db
    .query<{ stored: string }, [string]>(
      { text: 'select feeds::text as stored from feeds where inbox_uid = $1' },
      inbox.inbox_uid,
    )
    .then((found) => ({ rows: found }))
  expect(rows).toHaveLength(1)
  expect(rows[0]?.stored).not.toContain(token)
  expect(rows[0]?.stored).not.toContain(Buffer.from(token).toString('hex'))
})

it('shows nothing while calendars of the organization are switched off', async () => {
  const inbox = calendars.inbox()
  const feed = await newFeed(inbox)
  const set = (access: boolean) =>
    calendars.db.query<never, [string, boolean]>(
      {
        text: `insert into calendar_access (organization_id, access, version) values ($1, $2, 1)
               on conflict (organization_id) do update set access = excluded.access`,
      },
      inbox.organization_id,
      access,
    )
  await set(false)
  expect((await read(feed)).status).toBe(404)
  await set(true)
  expect((await read(feed)).status).toBe(200)
})
