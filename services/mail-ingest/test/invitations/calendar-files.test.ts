import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { EventPublisher, waitFor } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'

const FILE = 'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n'

let fixture: Fixture
let events: EventPublisher
beforeAll(async () => {
  fixture = await openFixture()
  events = new EventPublisher(fixture.topics.kafka)
})
afterAll(async () => {
  await events.stop()
  await fixture.stop()
})

const filesOf = async (inbox_uid: string, message_id: string) =>
  (await fixture.calendarPeer('mail-ingest.getCalendarFiles', { inbox_uid, message_id })).mail

describe('mail-ingest.getCalendarFiles', () => {
  it('hands over each different calendar file once, with author and labels', async () => {
    const inbox = await fixture.inbox()
    const id = await receiveMail(fixture, inbox, {
      attachments: [
        { filename: 'invite.ics', contentType: 'text/calendar; method=REQUEST', content: FILE },
        { filename: 'again.ics', contentType: 'application/ics', content: FILE.replaceAll('\r\n', '\n') },
        { filename: 'other.txt', contentType: 'text/plain', content: 'no calendar' },
      ],
    })
    const mail = await filesOf(inbox.inbox_uid, id)
    expect(mail).toMatchObject({ from: 'ada@customer.test', too_large: false, applied: false })
    expect(mail?.organization_id).toBe(inbox.organization_id)
    expect(mail?.files).toHaveLength(1)
    expect(Buffer.from(mail?.files[0]?.content ?? '', 'base64').toString()).toContain('METHOD:REQUEST')
    const shown = (await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))).body
    expect(mail?.authenticated).toBe(['pass', 'internal'].includes(shown.authentication.verdict))
  })

  it('leaves out files above the limit, and knows no mail of other inboxes', async () => {
    const [inbox, other] = [await fixture.inbox(), await fixture.inbox()]
    const content = `BEGIN:VCALENDAR\r\n${'X-A:b\r\n'.repeat(200_000)}`
    const attachments = [{ filename: 'large.ics', contentType: 'text/calendar', content }]
    const id = await receiveMail(fixture, inbox, { attachments })
    expect(await filesOf(inbox.inbox_uid, id)).toMatchObject({ files: [], too_large: true })
    expect(await filesOf(other.inbox_uid, id)).toBeUndefined()
  })
})

describe('a calendar file that was applied', () => {
  it('is shown with its message', async () => {
    const inbox = await fixture.inbox()
    const message_id = await receiveMail(fixture, inbox)
    const { organization_id, pod_id, inbox_uid } = inbox
    const topic = topics['calendar.events']
    const calendar_event_id = randomUUID()
    const payload = { organization_id, pod_id, inbox_uid, message_id, calendar_event_id }
    const about = { organization_id, pod_id, inbox_uid, subject: message_id }
    await events.publish(topic, topic.event('invitation.applied', payload, { time: new Date(), about }))
    const read = async () => (await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(message_id))).body
    await waitFor(async () => (await read()).calendar_event_id === calendar_event_id, { what: 'the event to be shown' })
    const { body } = await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')
    expect(body.messages).toMatchObject([{ message_id, calendar_event_id }])
    expect(await filesOf(inbox_uid, message_id)).toMatchObject({ applied: true })
  })
})
