import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import type { CalendarEvent } from '@restante/contracts/resources'
import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { type CalendarFixture, startCalendar } from '../../support/fixture.ts'
import type { TestInbox } from '../../support/tenant.ts'
import { calendarFile, vevent } from './files.ts'

/** Who organizes what the tests invite to. */
export const BOSS = 'boss@customer.test'

export interface Mail {
  readonly from?: string
  readonly labels?: readonly string[]
  readonly authenticated?: boolean
  readonly files?: readonly string[]
  /** A calendar has applied it before. */
  readonly applied?: boolean
}

/** The calendar service, and mails with calendar files that arrive. */
export interface Arrivals {
  readonly fixture: CalendarFixture
  /** Has a mail with calendar files arrive, and waits until it was looked at. @returns its id */
  arrive(inbox: TestInbox, content: string, mail?: Mail): Promise<string>
  eventsOf(inbox: TestInbox): Promise<readonly CalendarEvent[]>
  /** In October 2027. */
  agendaOf(inbox: TestInbox): Promise<readonly CalendarEvent[]>
  /** The types of the public events, once there are so many of them. */
  told(inbox: TestInbox, count: number): Promise<string[]>
}

const LEFT = sql<{ key: string }, [key: string]>("select key from timers where kind = 'invitation-in' and key = $1")

export async function startArrivals(): Promise<Arrivals> {
  const fixture = await startCalendar()
  /** Mails whose files were asked for. */
  const asked = new Set<string>()
  fixture.peers.answers = {
    'mail-ingest.getCalendarFiles': ({ inbox_uid, message_id }) => {
      const key = `${inbox_uid}:${message_id}`
      asked.add(key)
      const mail = fixture.peers.received.get(key)
      return mail === undefined ? {} : { mail }
    },
  }
  const typesOf = (inbox: TestInbox) =>
    fixture.publicEvents(inbox).flatMap(({ event_type: type }) => (typeof type === 'string' ? [type] : []))
  return {
    fixture,
    async arrive(inbox, content, mail = {}) {
      const message_id = `<${randomUUID()}@customer.test>`
      const { organization_id, pod_id, inbox_uid } = inbox
      const { from = BOSS, labels = ['received'], authenticated = true, files = [content], applied = false } = mail
      const key = `${inbox_uid}:${message_id}`
      fixture.peers.received.set(key, {
        organization_id,
        pod_id,
        from,
        authenticated,
        labels: [...labels],
        received_at: new Date().toISOString(),
        files: files.map((file) => ({ content: Buffer.from(file).toString('base64') })),
        too_large: false,
        applied,
      })
      await release(fixture, inbox, message_id)
      await waitFor(async () => asked.delete(key), { what: 'the files to be asked for' })
      await waitFor(async () => (await fixture.db.query(LEFT, key)).length === 0, { what: 'the files to be applied' })
      return message_id
    },
    eventsOf: async (inbox) => (await fixture.call('calendarEvents.list', inbox)).body.events ?? [],
    async agendaOf(inbox) {
      const query = { after: '2027-10-01T00:00:00Z', before: '2027-11-01T00:00:00Z' }
      return (await fixture.call('calendarEvents.agenda', inbox, { query })).body.events ?? []
    },
    async told(inbox, count) {
      await waitFor(async () => typesOf(inbox).length >= count, { what: 'the events' })
      return typesOf(inbox)
    },
  }
}

/** A label that kept a mail out is taken from it: then its files are looked at. */
async function release(
  { events }: CalendarFixture,
  { organization_id, pod_id, inbox_uid, address }: TestInbox,
  message_id: string,
): Promise<void> {
  const topic = topics['mail.messages']
  const now = new Date().toISOString()
  const payload = {
    organization_id,
    pod_id,
    inbox_id: address,
    event_id: randomUUID(),
    event_type: 'label.removed' as const,
    message_id,
    label: 'spam',
    event_at: now,
    created_at: now,
  }
  const about = { organization_id, pod_id, inbox_uid, message_id, labels: [] }
  await events.publish(topic, topic.event('label.removed', payload, { id: payload.event_id, time: new Date(), about }))
}

/** The lines of an event to which the boss invites an inbox. */
export const usual = (inbox: Pick<TestInbox, 'address'>, uid: string): Record<string, string> => ({
  UID: uid,
  DTSTAMP: '20261001T080000Z',
  SEQUENCE: '1',
  DTSTART: '20271007T090000Z',
  DTEND: '20271007T100000Z',
  SUMMARY: 'Lunch',
  ORGANIZER: `mailto:${BOSS}`,
  ATTENDEE: `mailto:${inbox.address}`,
})
export const request = (lines: Record<string, string>, ...more: string[]): string =>
  calendarFile('REQUEST', vevent(lines, ...more))
export const cancel = (lines: Record<string, string>, ...more: string[]): string =>
  calendarFile('CANCEL', vevent(lines, ...more))
