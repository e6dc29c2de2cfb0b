import type { CalendarEvent } from '@restante/contracts/resources'
import { sql } from '@restante/service/database'
import { byLength, waitFor } from '@restante/testkit'
import type { Answer, CallOptions } from '../support/fixture.ts'
import type { TestInbox } from '../support/tenant.ts'
import { type Arrivals, startArrivals } from './in/arrivals.ts'

const SEQUENCES = byLength({ short: 2, long: 60 })
const CHANGES = 7
const WAITING = sql<{ key: string }, []>("select key from timers where kind = 'invitation-out'")
const WINDOW = { after: '2027-01-01T00:00:00Z', before: '2027-12-31T00:00:00Z', limit: '100' }

let arrivals: Arrivals
beforeAll(async () => {
  arrivals = await startArrivals()
})
afterAll(() => arrivals.fixture.stop())

/** Numbers from 0 to below `most` that follow from a seed. */
function numbers(seed: number): (most: number) => number {
  let state = seed
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
}

/** What both sides must show of a date. */
const shown = ({ title, location, status, start_at, end_at, timezone }: CalendarEvent) => ({
  title,
  location,
  status,
  start_at,
  end_at,
  timezone,
})

const agendaOf = async (inbox: TestInbox) =>
  (await arrivals.fixture.call('calendarEvents.agenda', inbox, { query: WINDOW })).body.events ?? []

/** Hands every mail that waits for the guest over, as if it had arrived. @returns how many there were. */
async function deliver(host: TestInbox, guest: TestInbox, from: number): Promise<number> {
  const { fixture, arrive } = arrivals
  await waitFor(async () => (await fixture.db.query(WAITING)).length === 0, { what: 'the mails to be handed over' })
  const mails = fixture.peers.sent.filter(({ to }) => to === guest.address)
  for (const { calendar } of mails.slice(from)) await arrive(guest, calendar, { from: host.address })
  return mails.length
}

/** One random change that is mailed; undefined where there is no date to change. */
async function change(host: TestInbox, id: string, pick: (most: number) => number): Promise<Answer | undefined> {
  const dates = await agendaOf(host)
  const date = dates[pick(dates.length)]
  if (date === undefined) return undefined
  const day = date.start.slice(0, 10)
  const hour = String(8 + pick(8)).padStart(2, '0')
  const patch = (event_id: string, body: object, query: Record<string, string> = {}): [string, CallOptions] => [
    'calendarEvents.update',
    { params: { event_id }, query, body: { ...body, send_invites: true } },
  ]
  const remove = (mode: string): [string, CallOptions] => [
    'calendarEvents.delete',
    { params: { event_id: date.event_id }, query: { mode, send_invites: 'true' } },
  ]
  const changes = [
    patch(id, { title: `Title ${pick(100)}`, location: pick(2) ? 'Room' : null }),
    patch(id, { start: `2027-03-01T${hour}:30:00`, end: `2027-03-01T${hour}:50:00` }),
    patch(date.event_id, { title: `Date ${pick(100)}` }),
    patch(date.event_id, { start: `${day}T${hour}:00:00`, end: `${day}T${hour}:40:00` }),
    patch(date.event_id, { status: pick(2) ? 'cancelled' : 'tentative' }),
    patch(date.event_id, { title: `Later ${pick(100)}` }, { mode: 'future' }),
    remove('single'),
    ...(pick(3) ? [] : [remove('future')]),
  ] as const
  const [operation, options] = changes[pick(changes.length)] ?? []
  return operation === 'calendarEvents.delete'
    ? arrivals.fixture.call('calendarEvents.delete', host, options)
    : arrivals.fixture.call('calendarEvents.update', host, options)
}

describe('the calendar of an attendee', () => {
  it.each(Array.from({ length: SEQUENCES }, (_, seed) => seed))(
    'shows what its organizer has sent last, after any changes (%s)',
    async (seed) => {
      const { fixture } = arrivals
      const [host, guest, pick] = [fixture.inbox(), fixture.inbox(), numbers(seed)]
      const created = await fixture.call('calendarEvents.create', host, {
        body: {
          title: 'Planning',
          start: '2027-03-01T09:00:00',
          end: '2027-03-01T09:30:00',
          timezone: 'Europe/Berlin',
          recurrence: { rule: 'FREQ=WEEKLY;COUNT=8' },
          attendees: [{ email: guest.address }],
          send_invites: true,
        },
      })
      const id = created.body.event?.event_id ?? ''
      let handed = await deliver(host, guest, 0)
      const done: unknown[] = []
      for (let made = 0; made < CHANGES; made++) {
        const answer = await change(host, id, pick)
        done.push([answer?.status, answer?.body.code])
        handed = await deliver(host, guest, handed)
        const [sent, copy] = [await agendaOf(host), await agendaOf(guest)]
        expect({ seed, done, dates: copy.map(shown) }).toEqual({ seed, done, dates: sent.map(shown) })
      }
      expect(handed).toBeGreaterThan(2)
    },
  )
})
