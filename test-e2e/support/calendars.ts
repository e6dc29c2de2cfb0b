import { waitFor } from '@restante/testkit'
import type { Api } from './api.ts'
import type { OutsidePeer } from './peers.ts'
import { newUsername } from './tenants.ts'

const DAY = 24 * 3_600_000

/** A wall time of UTC, from now. */
export function wallTime(ms: number): string {
  return new Date(Date.now() + ms).toISOString().slice(0, 19)
}

export function calendarOf(inboxId: string): string {
  return `/v0/inboxes/${encodeURIComponent(inboxId)}/calendar`
}

/** Three days of an hour each, from tomorrow on. @returns the id of the series. */
export function newSeries(api: Api, inboxId: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return newEvent(api, inboxId, { recurrence: { rule: 'FREQ=DAILY;COUNT=3' }, ...fields })
}

/** An hour of tomorrow. @returns the id of the event. */
export async function newEvent(
  api: Api,
  inboxId: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const times = { start: wallTime(DAY), end: wallTime(DAY + 3_600_000) }
  const answer = await api.post(`${calendarOf(inboxId)}/events`, { title: 'Review', ...times, ...fields })
  const { event } = answer.body
  if (answer.status !== 201 || !isEvent(event)) throw new Error(`no event was made: ${JSON.stringify(answer.body)}`)
  return event.event_id
}

/** Makes the address of the feed anew. @returns its secret part. */
export async function newFeed(api: Api, inboxId: string): Promise<string> {
  const { body } = await api.post(`${calendarOf(inboxId)}/feed`, {})
  return new URL(String(body['url'])).pathname.split('/').at(-1) ?? ''
}

/** Invites an inbox by mail. @returns the id of the event in its calendar. */
export async function invite(peer: OutsidePeer, api: Api, inboxId: string, from = peer.address()): Promise<string> {
  const uid = `${newUsername('uid')}@outside.example`
  await peer.send({
    from,
    to: inboxId,
    subject: 'Invitation: Review',
    text: 'Review',
    attachments: [
      { filename: 'invite.ics', contentType: 'text/calendar; method=REQUEST', content: request(uid, from, inboxId) },
    ],
  })
  return waitFor(
    async () => {
      const { body } = await api.get(`${calendarOf(inboxId)}/events?limit=100`)
      const events = Array.isArray(body['events']) ? body['events'].filter(isEvent) : []
      return events.find((event) => event.uid === uid)?.event_id
    },
    { what: 'the invitation to be in the calendar' },
  )
}

function isEvent(value: unknown): value is { readonly event_id: string; readonly uid: string } {
  return typeof value === 'object' && value !== null && 'event_id' in value && 'uid' in value
}

function request(uid: string, organizer: string, attendee: string): string {
  const stamp = (ms: number) => `${wallTime(ms).replaceAll(/[-:]/g, '')}Z`
  return [
    ...['BEGIN:VCALENDAR', 'PRODID:-//Outside//EN', 'VERSION:2.0', 'METHOD:REQUEST', 'BEGIN:VEVENT'],
    ...[`UID:${uid}`, `DTSTAMP:${stamp(0)}`, `DTSTART:${stamp(2 * DAY)}`, `DTEND:${stamp(2 * DAY + 3_600_000)}`],
    ...['SEQUENCE:0', 'SUMMARY:Review', `ORGANIZER:mailto:${organizer}`],
    `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${attendee}`,
    ...['END:VEVENT', 'END:VCALENDAR', ''],
  ].join('\r\n')
}
