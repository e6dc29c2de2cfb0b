import { randomUUID } from 'node:crypto'
import { countRows, waitFor } from '@restante/testkit'
import { DOMAIN, type Fixture, factOf, inboxCaller, OPERATOR, startWorld } from '../support/fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
})
afterAll(() => fixture.stop())

const letter = (text: string, fields = '') =>
  `From: Ada <ada@customer.example>\r\nTo: postmaster@${DOMAIN}\r\nSubject: =?utf-8?Q?Open_relay=3F?=\r\n${fields}\r\n${text}\r\n`

function request(raw: string | Buffer, id: string = randomUUID()) {
  return {
    id,
    recipient: `Postmaster@${DOMAIN}`,
    mail_from: 'ada@customer.example',
    peer: '192.0.2.7',
    received_at: '2026-11-01T12:00:00.000Z',
    content: { bytes: Buffer.from(raw).toString('base64') },
  }
}
const forward = (body: ReturnType<typeof request> | object) =>
  fixture.internal('mail-send.forwardToOperator', 'mail-ingest', body)
const forwarded = (id: string) =>
  waitFor(() => fixture.outside.mails.filter(({ parsed }) => parsed.messageId === `<${id}@${DOMAIN}>`)[0], {
    what: 'the forwarded mail',
  })

describe('mail-send.forwardToOperator', () => {
  it('200: mails the original as an attachment of a mail of the installation, once per id', async () => {
    const id = randomUUID()
    const raw = letter('It relays for everyone.')
    const body = request(raw, id)
    const answers = await Promise.all(Array.from({ length: 5 }, () => forward(body)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { parsed, recipients, mailFrom } = await forwarded(id)
    expect(recipients).toEqual([OPERATOR])
    // A report about it arrives at a return path, and raises nothing.
    expect(mailFrom).toMatch(/^b\+.+@bounces\.restante\.test$/)
    expect(parsed.from?.value[0]?.address).toBe(`no-reply@${DOMAIN}`)
    expect(parsed.replyTo?.value[0]?.address).toBe('ada@customer.example')
    expect(parsed.subject).toBe('[postmaster] Open relay?')
    expect(parsed.headers.get('auto-submitted')).toBe('auto-generated')
    expect(parsed.headers.get('x-loop')).toBe(`postmaster@${DOMAIN}`)
    expect(parsed.text).toContain('192.0.2.7')
    expect(parsed.attachments.map(({ contentType, content }) => [contentType, content.toString()])).toEqual([
      ['message/rfc822', raw],
    ])
    expect((await forward(body)).status).toBe(200)
    expect(await countRows(fixture.db, 'sends where id = $1', id)).toBe(1)
  })

  it('200: reads a large mail from the blob store', async () => {
    const id = randomUUID()
    const raw = letter(`${'x'.repeat(76)}\r\n`.repeat(20_000))
    await fixture.store(`inbound/${id}`, Buffer.from(raw))
    expect((await forward({ ...request('', id), content: { blob: `inbound/${id}` } })).status).toBe(200)
    const { parsed } = await forwarded(id)
    expect(parsed.attachments[0]?.content.toString()).toBe(raw)
  })

  it.each([
    ['has lines that no server takes', `Subject: x\r\n\r\n${'x'.repeat(2_000)}\r\n`],
    ['has a NUL', 'Subject: x\r\n\r\na\0b\r\n'],
    ['has a hostile subject', 'Subject: =?utf-8?Q?a=0D=0ABcc:_x@y.example?=\r\nFrom: <a@b>,\r\n\r\nx\r\n'],
    ['has no header', 'only words'],
    ['is empty', ''],
  ])('200: forwards a mail that %s', async (_what, raw) => {
    const id = randomUUID()
    expect((await forward(request(raw, id))).status).toBe(200)
    const { parsed, raw: sent } = await forwarded(id)
    expect(parsed.attachments).toHaveLength(1)
    expect(sent.toString()).not.toMatch(/^Bcc:/m)
  })

  it('401: is not for the gateway', async () => {
    expect((await fixture.internal('mail-send.forwardToOperator', 'gateway', request('x'))).status).toBe(401)
  })
})

describe('mail of an inbox here to the operator', () => {
  it('is handed to mail-ingest, which has it forwarded', async () => {
    fixture.peers.answers = {
      'mail-ingest.placeSent': async () => ({}),
      'mail-ingest.acceptForOperator': async () => ({ outcome: 'accepted' }),
      'gateway.resolveRecipients': async ({ addresses }) => ({
        recipients: addresses.map((given) => ({ status: 'unknown', given })),
      }),
    }
    const caller = inboxCaller()
    const to = `Abuse@${DOMAIN}`
    const sent = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'Help' } })
    await factOf(fixture, sent.body['message_id'], 'delivery.delivered')
    const [asked] = fixture.peers.requests('mail-ingest.acceptForOperator')
    expect(asked).toMatchObject({ sender_organization_id: caller.organization_id, mail_from: expect.any(String) })
    expect(asked?.recipient.toLowerCase()).toBe(to.toLowerCase())
  })

  it.each([
    ['limited', 'delivery.delayed'],
    ['too_large', 'delivery.bounced'],
    ['loop', 'delivery.bounced'],
  ] as const)('that is %s is followed by %s', async (outcome, type) => {
    fixture.peers.answers['mail-ingest.acceptForOperator'] = async () => ({ outcome })
    const body = { to: `postmaster@${DOMAIN}`, text: 'Help' }
    const sent = await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body })
    expect((await factOf(fixture, sent.body['message_id'], type)).payload['recipients']).toHaveLength(1)
  })
})
