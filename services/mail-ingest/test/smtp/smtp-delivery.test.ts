import { sendMail, type TopicCollection } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'

let fixture: Fixture
let messages: TopicCollection

beforeAll(async () => {
  fixture = await openFixture()
  messages = await fixture.collect('mail.messages')
})
afterAll(() => fixture.stop())

describe('a mail that arrives by SMTP', () => {
  it('is in the mailbox, and its event is published, with everything that a reader needs', async () => {
    const inbox = await fixture.inbox()
    await sendMail({
      port: fixture.smtpPort,
      from: 'Ada Ray <ada@customer.test>',
      to: inbox.address,
      subject: 'Order 1182',
      text: 'Where is it?\n',
      attachments: [{ filename: 'receipt.pdf', content: Buffer.from('%PDF-1.7 receipt') }],
    })
    const event = await messages.next(({ type }) => type === 'message.received', { what: 'the event' })
    const document = JSON.parse(event.value)
    expect(document).toMatchObject({ type: 'event', event_type: 'message.received', event_id: event.id })
    expect(document.message).toMatchObject({
      inbox_id: inbox.address,
      labels: ['received', 'unread'],
      from: 'Ada Ray <ada@customer.test>',
      from_: 'Ada Ray <ada@customer.test>',
      to: [inbox.address],
      subject: 'Order 1182',
      text: 'Where is it?\n',
      preview: 'Where is it?\n',
      extracted_text: 'Where is it?',
    })
    expect(document.thread).toMatchObject({
      message_count: 1,
      subject: 'Order 1182',
      senders: ['Ada Ray <ada@customer.test>'],
    })
    const path = `/messages/${encodeURIComponent(document.message.message_id)}`
    const answer = await fixture.call(inbox.caller, 'messages.get', 'GET', path)
    expect(answer.status).toBe(200)
    const { from_: _, ...message } = document.message
    expect(answer.body).toEqual(message)
  })
})
