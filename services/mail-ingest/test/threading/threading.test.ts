import { randomUUID } from 'node:crypto'
import { type Submission, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'

let fixture: Fixture
let inbox: TestInbox
let messages: TopicCollection
let facts: TopicCollection

beforeAll(async () => {
  fixture = await openFixture()
  messages = await fixture.collect('mail.messages')
  facts = await fixture.collect('mail.inbound')
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

const send = (mail: Omit<Submission, 'port'>) =>
  sendMail({ port: fixture.smtpPort, from: 'Ada <ada@customer.test>', to: inbox.address, ...mail })

const received = () =>
  messages.records
    .filter(({ key, type }) => key === inbox.inbox_uid && type.startsWith('message.received'))
    .map(({ value }) => JSON.parse(value))
const afterReceiving = (count: number) =>
  waitFor(() => received().length >= count && received(), { what: `${count} received events` })
const discards = () =>
  facts.records
    .filter(({ key, type }) => key === inbox.inbox_uid && type === 'mail.discarded')
    .map(({ value }) => JSON.parse(value).reason)

describe('threading', () => {
  it('puts an answer into the thread of the answered message, never by subject', async () => {
    const [first, second] = [`<${randomUUID()}@customer.test>`, `<${randomUUID()}@customer.test>`]
    await send({ messageId: first, subject: 'Order', text: 'one' })
    await afterReceiving(1)
    await send({ messageId: second, subject: 'Re: Order', inReplyTo: first, references: [first], text: 'two' })
    await send({ subject: 'Order', text: 'not in the thread' })
    const [one, two, three] = await afterReceiving(3)
    expect(two.message.thread_id).toBe(one.message.thread_id)
    expect(two.thread).toMatchObject({ message_count: 2, subject: 'Order', last_message_id: second, preview: 'two\n' })
    expect(three.message.thread_id).not.toBe(one.message.thread_id)
  })

  it('looks at References from last to first when In-Reply-To names nothing here', async () => {
    const [first, second] = [`<${randomUUID()}@customer.test>`, `<${randomUUID()}@customer.test>`]
    await send({ messageId: first, text: 'one' })
    await send({ messageId: second, text: 'two' })
    await afterReceiving(2)
    await send({ inReplyTo: '<unknown@customer.test>', references: [first, second, '<gone@x.test>'], text: 'three' })
    const [, two, three] = await afterReceiving(3)
    expect(three.message.thread_id).toBe(two.message.thread_id)
  })

  it('looks for each id of In-Reply-To in their order, before References, and shows the first', async () => {
    const [first, second, third] = [1, 2, 3].map((n) => `<${n}.${randomUUID()}@customer.test>`)
    for (const messageId of [first, second, third]) await send({ messageId, text: 'one' })
    const originals = await afterReceiving(3)
    const answer = async (inReplyTo: string) => {
      const before = received().length
      const header = `From: ada@customer.test\r\nMessage-ID: <${randomUUID()}@customer.test>\r\n`
      const raw = `${header}In-Reply-To: ${inReplyTo}\r\nReferences: ${third}\r\n\r\n${inReplyTo}`
      await send({ envelope: { from: 'ada@customer.test', to: inbox.address }, raw })
      return (await afterReceiving(before + 1)).at(-1).message
    }
    const threads = originals.map(({ message }) => message.thread_id)
    const [phrase, several] = [
      await answer(`Message from Bob <bob@customer.test> of Mon ${first}`),
      await answer(`<gone@x.test>\r\n ${second} ${first}`),
    ]
    expect(phrase).toMatchObject({ thread_id: threads[0], in_reply_to: '<bob@customer.test>' })
    expect(several).toMatchObject({ thread_id: threads[1], in_reply_to: '<gone@x.test>' })
    expect((await answer('<gone@x.test> <away@x.test>')).thread_id).toBe(threads[2])
  })

  it('keeps a thread correct when an older mail arrives later', async () => {
    const id = `<${randomUUID()}@customer.test>`
    await send({ messageId: id, subject: 'Newer', date: new Date('2026-03-02T10:00:00Z'), text: 'newer' })
    await afterReceiving(1)
    await send({
      inReplyTo: id,
      subject: 'Older',
      date: new Date('2026-03-01T10:00:00Z'),
      from: 'bo@x.test',
      text: 'older',
    })
    const [, older] = await afterReceiving(2)
    expect(older.thread).toMatchObject({
      timestamp: '2026-03-02T10:00:00.000Z',
      subject: 'Older',
      preview: 'newer\n',
      last_message_id: id,
      senders: ['bo@x.test', 'Ada <ada@customer.test>'],
    })
  })

  it('starts a new thread for a mail whose ids belong to another inbox', async () => {
    const other = await fixture.inbox()
    const id = `<${randomUUID()}@customer.test>`
    await send({ messageId: id, to: other.address, text: 'elsewhere' })
    await send({ inReplyTo: id, text: 'here' })
    const [here] = await afterReceiving(1)
    expect(here.thread.message_count).toBe(1)
  })
})

describe('a mail with a known id', () => {
  it('is stored once when the same mail is sent twice', async () => {
    const mail = { messageId: `<${randomUUID()}@customer.test>`, subject: 'Once', text: 'the same' }
    await send(mail)
    await send(mail)
    await waitFor(() => discards().length === 1, { what: 'the discard' })
    expect(discards()).toEqual(['duplicate'])
    expect(await afterReceiving(1)).toHaveLength(1)
  })

  it('is stored under a generated id when it is a different mail, its own header unchanged', async () => {
    const messageId = `<${randomUUID()}@customer.test>`
    await send({ messageId, text: 'genuine' })
    await send({ messageId, text: 'with other words' })
    await send({ messageId, from: 'eve@evil.test', text: 'genuine' })
    const [genuine, second, third] = await afterReceiving(3)
    expect(genuine.message.message_id).toBe(messageId)
    for (const { message } of [second, third]) {
      expect(message.message_id).toMatch(/^<[0-9a-f-]{36}@mail\.test>$/)
      expect(message.headers['Message-ID']).toBe(messageId)
    }
  })

  it('is recognised without a Message-ID too, by its bytes', async () => {
    const raw = `From: ada@customer.test\r\nTo: ${inbox.address}\r\nSubject: no id ${randomUUID()}\r\n\r\nHello\r\n`
    const envelope = { from: 'ada@customer.test', to: inbox.address }
    await sendMail({ port: fixture.smtpPort, envelope, raw })
    await sendMail({ port: fixture.smtpPort, envelope, raw })
    await waitFor(() => discards().length === 1, { what: 'the discard' })
    const [mail] = await afterReceiving(1)
    expect(mail.message.message_id).toMatch(/^<.+@.+>$/)
    const path = `/messages/${encodeURIComponent(mail.message.message_id)}`
    expect((await fixture.call(inbox.caller, 'messages.get', 'GET', path)).status).toBe(200)
  })
})

describe('a mail without exactly one author', () => {
  const text = (from: string, messageId: string, more = '') =>
    `From: ${from}\r\nTo: ${inbox.address}\r\nMessage-ID: ${messageId}\r\nSubject: Several\r\n${more}\r\nHello\r\n`
  const deliver = (raw: string) =>
    sendMail({ port: fixture.smtpPort, envelope: { from: 'ada@customer.test', to: inbox.address }, raw })
  const id = () => `<${randomUUID()}@customer.test>`

  it('equals only a mail with the same text for an author', async () => {
    const messageId = id()
    await deliver(text('ada@customer.test, bo@customer.test', messageId))
    await deliver(text('cy@customer.test, di@customer.test', messageId))
    await deliver(text('ada@customer.test, bo@customer.test', messageId))
    await waitFor(() => discards().length === 1, { what: 'the discard' })
    expect(discards()).toEqual(['duplicate'])
    expect(await afterReceiving(2)).toHaveLength(2)
  })

  it('is unauthenticated from wherever it comes', async () => {
    await deliver(text('ada@customer.test, bo@customer.test', id()))
    const [{ message }] = await afterReceiving(1)
    expect(message.labels).toContain('unauthenticated')
    expect(message.authentication).toMatchObject({ verdict: 'none' })
    expect(message.authentication).not.toHaveProperty('from_domain')
  })

  it('matches no author of another mail, and the thread shows the texts of both', async () => {
    const [shared, question] = [id(), id()]
    await deliver(text('ada@customer.test, bo@customer.test', shared))
    await deliver(text('cy@customer.test, di@customer.test', question))
    await deliver(text('eve@customer.test, bo@customer.test', shared, `In-Reply-To: ${question}\r\n`))
    await deliver(text('eve@customer.test, bo@customer.test', id(), `In-Reply-To: ${shared}\r\n`))
    const [toAll, other, copy, answer] = await afterReceiving(4)
    expect(other.message.thread_id).not.toBe(toAll.message.thread_id)
    expect(copy.message.thread_id).toBe(other.message.thread_id)
    expect(answer.message.thread_id).toBe(toAll.message.thread_id)
    expect(answer.thread.senders).toEqual([toAll.message.from, answer.message.from])
    expect(answer.message.from).toMatch(/eve.*bo/)
  })
})

describe('the time of a mail', () => {
  it('is its Date, unless that is in the future', async () => {
    const before = Date.now()
    await send({ date: new Date('2026-01-02T03:04:05Z'), text: 'past' })
    await send({ date: new Date('2099-01-01T00:00:00Z'), text: 'future' })
    const [past, future] = await afterReceiving(2)
    expect(past.message.timestamp).toBe('2026-01-02T03:04:05.000Z')
    expect(Date.parse(future.message.timestamp)).toBeGreaterThanOrEqual(before - 1)
    expect(Date.parse(future.message.timestamp)).toBeLessThanOrEqual(Date.now())
  })
})
