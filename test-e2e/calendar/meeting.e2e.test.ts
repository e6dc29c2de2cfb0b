import { type CalendarEvent, calendarEvent } from '@restante/contracts/resources'
import { type StreamClient, waitFor } from '@restante/testkit'
import type { Answer } from '../support/api.ts'
import { openStream } from '../support/streams.ts'
import { useSystem } from '../support/suite.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A wall time of UTC. */
const wall = (ms: number) => new Date(ms).toISOString().slice(0, 19)

describe('a meeting between inboxes', () => {
  const system = useSystem()
  const newInbox = async () => (await system.tenant.client.inboxes.create({})).inboxId
  const calendarOf = (inbox: string) => `/v0/inboxes/${inbox}/calendar`

  const eventIn = ({ status, body }: Answer): CalendarEvent => {
    if (status >= 300) throw new Error(`refused: ${JSON.stringify(body)}`)
    return calendarEvent.parse(body['event'] ?? body)
  }
  const create = async (inbox: string, fields: object) =>
    eventIn(await system.tenant.api.post(`${calendarOf(inbox)}/events`, { title: 'Review', ...fields }))
  const change = async (inbox: string, id: string, fields: object, query = '') =>
    eventIn(await system.tenant.api.patch(`${calendarOf(inbox)}/events/${id}${query}`, fields))
  const read = async (inbox: string, id: string) =>
    eventIn(await system.tenant.api.get(`${calendarOf(inbox)}/events/${id}`))
  const agenda = async (inbox: string) => {
    const { body } = await system.tenant.api.get(`${calendarOf(inbox)}/agenda`)
    return calendarEvent.array().parse(body['events'])
  }
  /** The event of an inbox that an invitation has made, as soon as it fulfils a condition. */
  const imported = (inbox: string, condition: (event: CalendarEvent) => boolean = () => true) =>
    waitFor(
      async () => {
        const { body } = await system.tenant.api.get(`${calendarOf(inbox)}/events`)
        return calendarEvent.array().parse(body['events']).find(condition)
      },
      { what: 'the imported event' },
    )
  const attendeeOf = (event: CalendarEvent, email: string) => event.attendees?.find((one) => one.email === email)

  it('is arranged by mail: invited, answered, moved, answered for one date, cancelled', async () => {
    const [host, guest] = await Promise.all([newInbox(), newInbox()])
    const start = Date.now() + 48 * HOUR
    const event = await create(host, {
      start: wall(start),
      end: wall(start + HOUR),
      recurrence: { rule: 'FREQ=DAILY;COUNT=4' },
      attendees: [{ email: guest, name: 'Guest' }],
      send_invites: true,
      metadata: { secret: 1 },
    })
    const invitation = await imported(guest)
    expect(invitation).toMatchObject({
      kind: 'series',
      source: 'email',
      uid: event.uid,
      organizer_email: host,
      response_status: 'needs_action',
      recurrence: { rule: 'FREQ=DAILY;COUNT=4' },
    })
    expect(invitation.metadata).toBeUndefined()
    const message = await waitFor(
      async () => {
        const { body } = await system.tenant.api.get(
          `/v0/inboxes/${guest}/messages/${encodeURIComponent(invitation.origin_message_id ?? '')}`,
        )
        return body['calendar_event_id'] === undefined ? undefined : body
      },
      { what: 'the id of the event at its message' },
    )
    expect(message).toMatchObject({ calendar_event_id: invitation.event_id, subject: 'Invitation: Review' })

    const answered = await system.tenant.api.post(`${calendarOf(guest)}/events/${invitation.event_id}/respond`, {
      status: 'accepted',
      comment: 'Gladly',
    })
    expect(eventIn(answered).response_status).toBe('accepted')
    await waitFor(async () => attendeeOf(await read(host, event.event_id), guest)?.status === 'accepted' || undefined, {
      what: 'the answer at the host',
    })
    expect(attendeeOf(await read(host, event.event_id), guest)?.comment).toBe('Gladly')

    const [, second] = await agenda(host)
    if (second === undefined) throw new Error('the series has one date')
    await change(host, second.event_id, {
      start: wall(start + 26 * HOUR),
      end: wall(start + 27 * HOUR),
      send_invites: true,
    })
    const moved = await imported(guest, ({ kind }) => kind === 'instance')
    expect(moved).toMatchObject({ start: wall(start + 26 * HOUR), is_exception: true })

    const declined = await system.tenant.api.post(`${calendarOf(guest)}/events/${moved.event_id}/respond`, {
      status: 'declined',
    })
    expect(eventIn(declined).response_status).toBe('declined')
    await waitFor(
      async () => attendeeOf(await read(host, second.event_id), guest)?.status === 'declined' || undefined,
      {
        what: 'the answer about one date at the host',
      },
    )
    expect(attendeeOf(await read(host, event.event_id), guest)?.status).toBe('accepted')

    const gone = await system.tenant.api.request(
      'DELETE',
      `${calendarOf(host)}/events/${event.event_id}?send_invites=true`,
    )
    expect(gone.status).toBe(202)
    await imported(guest, ({ event_id, status }) => event_id === invitation.event_id && status === 'cancelled')
    expect(await agenda(guest)).toEqual([])
  })

  it('is announced when it begins and when it ends, to those who asked for it by name', async () => {
    const inbox = await newInbox()
    const stream = await openStream(system.endpoints, system.tenant.key, {
      inbox_ids: [inbox],
      event_types: ['calendar.event.created', 'calendar.event.starting', 'calendar.event.ending'],
    })
    system.cleanUp({ stop: () => stream.close() })
    const start = Date.now() + 6_000
    const event = await create(inbox, { start: wall(start), end: wall(start + 2_000) })
    const announced = (type: string) =>
      waitFor(() => ofType(stream, type, event.event_id), { what: `${type} of the event` })
    await announced('calendar.event.created')
    expect(await announced('calendar.event.starting')).toMatchObject({
      event_id: `${event.event_id}_single.start`,
      scheduled_at: event.start_at,
    })
    expect(await announced('calendar.event.ending')).toMatchObject({
      event_id: `${event.event_id}_single.end`,
      scheduled_at: event.end_at,
    })
  })
})

function ofType({ events }: StreamClient, type: string, eventId: string) {
  return events.find((event) => event['event_type'] === type && JSON.stringify(event).includes(eventId))
}
