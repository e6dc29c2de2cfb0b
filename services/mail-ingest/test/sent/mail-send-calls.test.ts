import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { SentCopy } from '@restante/contracts/schemas'
import { sendMail, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, sentCopy, untilProcessed } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

describe('getReplySource', () => {
  it('returns the source of a reply, unless it is invisible to the caller', async () => {
    const id = await receiveMail(fixture, inbox, { replyTo: 'team@customer.test', cc: 'c@x.test', text: 'Question?' })
    const ask = (visible_labels: ('trash' | 'spam')[], inbox_uid = inbox.inbox_uid) =>
      fixture.peer('mail-ingest.getReplySource', { inbox_uid, message_id: id, visible_labels })
    expect(await ask([])).toMatchObject({
      source: {
        message_id: id,
        sent: false,
        from: 'Ada Ray <ada@customer.test>',
        to: [inbox.address],
        cc: ['c@x.test'],
        reply_to: ['team@customer.test'],
        text: 'Question?\n',
        references: [],
      },
    })
    await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), { add_labels: ['trash'] })
    expect(await ask(['spam'])).toEqual({})
    expect(await ask(['trash'])).toHaveProperty('source')
    expect(await ask(['trash'], randomUUID())).toEqual({})
  })
})

describe('acceptInbound', () => {
  const handOver = async (to: TestInbox, more: { delivery_id?: string; recipient?: string; fields?: string } = {}) => {
    const { blob } = await sentCopy(fixture, inbox)
    const { organization_id, pod_id, inbox_uid, address } = to
    const request = { delivery_id: randomUUID(), recipient: address, mail_from: inbox.address, blob, ...more }
    return fixture.peer('mail-ingest.acceptInbound', { organization_id, pod_id, inbox_uid, ...request })
  }
  const count = async (of: TestInbox) => (await fixture.call(of.caller, 'messages.list', 'GET', '/messages')).body.count

  it('delivers as authenticated, once per delivery', async () => {
    const to = await fixture.inbox()
    const delivery_id = randomUUID()
    const recipient = to.address.replace('@', '+tag@')
    expect(await handOver(to, { delivery_id, recipient })).toEqual({ outcome: 'accepted' })
    expect(await handOver(to, { delivery_id, recipient })).toEqual({ outcome: 'accepted' })
    await handOver(to)
    await untilProcessed(fixture)
    expect(await count(to)).toBe(2)
    const { body } = await fixture.call(to.caller, 'messages.list', 'GET', '/messages')
    expect(body.messages[0].labels).toEqual(['received', 'unread'])
    const message = await fixture.call(to.caller, 'messages.get', 'GET', pathOf(body.messages[0].message_id))
    expect(message.body.headers['Authentication-Results']).toContain('x-internal=pass')
  })

  it('puts fields of the delivery in front of the message, and leaves the sent one as it is', async () => {
    const to = await fixture.inbox()
    const fields = 'List-Unsubscribe: <https://a.test/u/x>,\r\n <mailto:u+x@b.test>\r\n'
    expect(await handOver(to, { fields })).toEqual({ outcome: 'accepted' })
    await waitFor(async () => (await count(to)) === 1, { what: 'the message' })
    const { body } = await fixture.call(to.caller, 'messages.list', 'GET', '/messages')
    const path = pathOf(body.messages[0].message_id)
    const message = await fixture.call(to.caller, 'messages.get', 'GET', path)
    expect(message.body.headers['List-Unsubscribe']).toBe('<https://a.test/u/x>, <mailto:u+x@b.test>')
    const raw = await fixture.call(to.caller, 'messages.getRaw', 'GET', `${path}/raw`)
    expect(raw.body.size).toBeGreaterThan(fields.length)
  })

  it('repeats the first outcome, even when the inbox was resumed', async () => {
    const to = await fixture.inbox()
    const delivery_id = randomUUID()
    await fixture.setStatus(to, 'paused')
    expect(await handOver(to, { delivery_id })).toEqual({ outcome: 'paused' })
    await fixture.setStatus(to, 'active')
    expect(await handOver(to, { delivery_id })).toEqual({ outcome: 'paused' })
    await untilProcessed(fixture)
    expect(await count(to)).toBe(0)
  })

  it('answers unknown for deleted inboxes', async () => {
    const to = await fixture.inbox()
    await fixture.deleteInbox(to)
    expect(await handOver(to)).toEqual({ outcome: 'unknown' })
  })
})

describe('getSentCopy', () => {
  it('places the sent original when a list returns it early, so that the original keeps its id', async () => {
    const copies: SentCopy[] = []
    const mailSend = createServer((_request, response) => {
      const [copy] = copies
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...(copy && { copy }) }))
    })
    await once(mailSend.listen(0, '127.0.0.1'), 'listening')
    const address = mailSend.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const own = await openFixture({ MAIL_SEND_URL: `http://127.0.0.1:${port}` })
    try {
      const sender = await own.inbox()
      const copy = await sentCopy(own, sender)
      copies.push(copy)
      const raw = `From: ${sender.address}\r\nMessage-ID: ${copy.message_id}\r\nSubject: Offer\r\n\r\nwith a footer\r\n`
      await sendMail({ port: own.smtpPort, envelope: { from: 'list@x.test', to: sender.address }, raw })
      const list = async () => (await own.call(sender.caller, 'messages.list', 'GET', '/messages')).body.messages
      const messages = await waitFor(async () => (await list()).length === 2 && list(), { what: 'both messages' })
      const original = messages.find(({ message_id }) => message_id === copy.message_id)
      expect(original?.labels).toEqual(['sent', 'campaign'])
    } finally {
      await own.stop()
      mailSend.close()
    }
  })
})
