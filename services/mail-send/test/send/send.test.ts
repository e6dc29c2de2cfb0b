import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import { sentCopy } from '@restante/contracts/schemas'
import { parse } from '@restante/mime'
import { countRows, lastingPeriod, leastOf, waitFor } from '@restante/testkit'
import { listEntries } from '../../src/lists/store.ts'
import { type Answer, DOMAIN, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../support/fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

function someone(name = 'ann'): string {
  return `${name}-${randomUUID().slice(0, 8)}@outside.example`
}

type SendingCaller = ReturnType<typeof inboxCaller>

function send(caller: SendingCaller, body: unknown, key?: string): Promise<Answer> {
  return fixture.call('messages.send', caller, { path: '/messages/send', body, ...(key !== undefined && { key }) })
}

/** Everything that a refused send must not leave. */
async function expectNothingLeft(caller: SendingCaller): Promise<void> {
  expect(await countRows(fixture.db, 'sends where organization_id = $1', caller.organization_id)).toBe(0)
  expect(await countRows(fixture.db, 'idempotency_keys where organization_id = $1', caller.organization_id)).toBe(0)
}

describe('messages.send: 200', () => {
  it('mails an external recipient, and the events reach Kafka in order, by inbox', async () => {
    const caller = inboxCaller()
    const to = someone()
    const answer = await send(caller, { to, subject: 'Hello', text: 'How are you?' })
    expect(answer.status).toBe(200)
    const { message_id, thread_id } = answer.body
    const mail = await fixture.outside.next(to)
    expect(mail.parsed).toMatchObject({ subject: 'Hello', messageId: message_id })
    expect(mail.parsed.from?.value).toEqual([{ name: 'The Desk', address: caller.inbox.address }])
    expect(mail.mailFrom).toMatch(/^b\+[0-9a-f]{52}@bounces\.restante\.test$/)
    expect(mail.helo).toBe(`mail.${DOMAIN}`)
    await factOf(fixture, message_id, 'delivery.delivered')
    const facts = factsAbout(fixture, message_id)
    expect(facts.map(({ type }) => type)).toEqual(['message.accepted', 'delivery.handed_over', 'delivery.delivered'])
    for (const fact of facts) {
      expect(fact.key).toBe(caller.inbox.uid)
      expect(fact.headers).toMatchObject({
        ce_organizationid: caller.organization_id,
        ce_podid: caller.inbox.pod_id,
        ce_inboxuid: caller.inbox.uid,
        ce_subject: message_id,
      })
      expect(fact.payload).toMatchObject({ message_id, thread_id, inbox_uid: caller.inbox.uid })
    }
  })

  it('sends the mailbox everything that its copy needs, once directly and once by event', async () => {
    const caller = inboxCaller({ take_overs: 2 })
    const [to, cc, bcc] = [someone('to'), someone('cc'), someone('bcc')]
    const answer = await send(caller, {
      to: `Ann <${to}>`,
      cc: [cc],
      bcc: [bcc],
      reply_to: 'Help <help@outside.example>',
      subject: 'Offer',
      text: 'plain',
      html: '<p>rich</p>',
      labels: ['VIP', 'q3'],
      headers: { 'X-Campaign': 'spring', Bcc: 'mallory@outside.example', 'List-Unsubscribe': '<https://x.example>' },
    })
    const placed = fixture.peers
      .requests('mail-ingest.placeSent')
      .find(({ message_id }) => message_id === answer.body['message_id'])
    expect(placed).toMatchObject({
      thread_id: answer.body['thread_id'],
      from: `The Desk <${caller.inbox.address}>`,
      to: [`Ann <${to}>`],
      cc: [cc],
      bcc: [bcc],
      reply_to: ['Help <help@outside.example>'],
      subject: 'Offer',
      labels: ['vip', 'q3'],
      take_overs: 2,
      extracted_text: 'plain',
      extracted_html: '<p>rich</p>',
    })
    const accepted = await factOf(fixture, answer.body['message_id'], 'message.accepted')
    expect(sentCopy.parse(accepted.payload)).toEqual(placed)
    const blobs = await openBlobStore(fixture.config.blobStore)
    const raw = (await blobs.buffer(placed?.blob.name ?? '')).toString()
    expect(raw).not.toMatch(/^(bcc|list-unsubscribe):/im)
    expect(raw).toMatch(/^X-Campaign: spring\r$/m)
    for (const recipient of [to, cc, bcc]) {
      const mail = await fixture.outside.next(recipient)
      expect(mail.recipients).toEqual([recipient])
      // Each recipient's own fields come first.
      expect(mail.raw.toString().replace(/^List-Unsubscribe: .*\r\n .*\r\nList-Unsubscribe-Post: .*\r\n/, '')).toBe(raw)
    }
  })

  it.each<[string, object, string[] | undefined]>([
    [
      "the caller's own header",
      { 'reply-to': 'Zoë <zoe@outside.example>, "Help, Desk" <help@outside.example>' },
      ['Zoë <zoe@outside.example>', '"Help, Desk" <help@outside.example>'],
    ],
    ['no header', { 'X-Reply-To': 'zoe@outside.example' }, undefined],
  ])('tells the mailbox where answers go, from %s', async (_, headers, reply_to) => {
    const to = someone()
    const { body } = await send(inboxCaller(), { to, headers })
    const copies = fixture.peers.requests('mail-ingest.placeSent')
    const placed = copies.find(({ message_id }) => message_id === body['message_id'])
    expect(placed?.reply_to).toEqual(reply_to)
    expect(parse((await fixture.outside.next(to)).raw).replyTo).toEqual(reply_to ?? [])
  })

  it('answers without waiting for a mailbox that does not answer', async () => {
    fixture.peers.answers = { 'mail-ingest.placeSent': () => new Promise(() => {}) }
    // It waits for two seconds, and not for the 5 s of other calls.
    const limit = 4_500
    const least = await leastOf(limit, async () => {
      const begun = performance.now()
      const answer = await send(inboxCaller(), { to: someone() })
      expect(answer.status).toBe(200)
      return performance.now() - begun
    })
    fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
    expect(least).toBeLessThan(limit)
  })

  it('skips the sending inbox among the recipients', async () => {
    const caller = inboxCaller()
    const to = someone()
    const answer = await send(caller, { to: [to, caller.inbox.address.toUpperCase()], text: 'x' })
    const handedOver = await factOf(fixture, answer.body['message_id'], 'delivery.handed_over')
    expect(handedOver.payload['recipients']).toEqual([to])
  })

  it('lets an unverified organization mail only its human, ten times a day', async () => {
    await lastingPeriod(86_400_000)
    const human = someone('human')
    const caller = inboxCaller({ unverified: true, sending: `only:${human}` })
    for (let sent = 0; sent < 10; sent++) expect((await send(caller, { to: human })).status).toBe(200)
    const refused = await send(caller, { to: human })
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limit_exceeded', message: 'Daily send limit exceeded' },
    })
    const seconds = Number(refused.headers.get('retry-after'))
    const moment = Number(refused.headers.get('x-ratelimit-reset'))
    expect(Math.abs(moment - Date.now() / 1_000 - seconds)).toBeLessThan(60)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(86_400)
  })
})

describe('messages.send: 400', () => {
  it.each([
    [{ to: ['fine@outside.example', 'nobody'] }, ['to', 1]],
    [{ to: 'a@outside.example', reply_to: 'broken@' }, ['reply_to', 0]],
    [{ to: 'a@outside.example', subject: 'two\nlines' }, ['subject']],
    [{ to: 'a@outside.example', subject: 'two\u2028lines' }, ['subject']],
    [{ to: 'a@outside.example', headers: { 'X-A': 'a\u0085b' } }, ['headers', 'X-A']],
    [{ to: 'a@outside.example', attachments: [{ content: '', filename: 'a\u2029b' }] }, ['attachments', 0, 'filename']],
    [{ to: 'a@outside.example', headers: { 'X-A': null } }, ['headers', 'X-A']],
    [{ to: 'a@outside.example', labels: ['sent'] }, ['labels', 0]],
    [{ to: 'a@outside.example', attachments: [{ filename: 'x' }] }, ['attachments', 0]],
    [{ to: 'a@outside.example', attachments: [{ content: '!!' }] }, ['attachments', 0, 'content']],
  ])('refuses %j at %j', async (body, where) => {
    const caller = inboxCaller()
    const answer = await send(caller, body, randomUUID())
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } })
    expect(answer.body['errors']).toEqual(expect.arrayContaining([expect.objectContaining({ path: where })]))
    await expectNothingLeft(caller)
  })

  it('refuses more than 50 recipients in total', async () => {
    const many = Array.from({ length: 26 }, (_, index) => `r${index}@outside.example`)
    const answer = await send(inboxCaller(), { to: many, cc: many.slice(1) })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: ['to'] }] } })
  })

  it.each([
    ['empty', ''],
    ['with a space', 'with space'],
    ['of 257 characters', 'x'.repeat(257)],
  ])('refuses an Idempotency-Key %s', async (_what, key) => {
    const answer = await send(inboxCaller(), { to: someone() }, key)
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: ['headers', 'idempotency-key'] }] } })
  })
})

describe('messages.send: 403', () => {
  it('refuses to send from a paused inbox', async () => {
    const caller = inboxCaller()
    const answer = await send({ ...caller, inbox: { ...caller.inbox, paused: true } }, { to: someone() }, randomUUID())
    expect(answer).toMatchObject({ status: 403, body: { code: 'inbox_paused', name: 'InboxPausedError' } })
    await expectNothingLeft(caller)
  })

  it('refuses a suspended organization', async () => {
    const answer = await send(inboxCaller({ sending: 'suspended' }), { to: someone() })
    expect(answer).toMatchObject({ status: 403, body: { code: 'message_rejected', name: 'MessageRejectedError' } })
  })

  it('refuses everyone but the human of an unverified organization, and names each', async () => {
    const caller = inboxCaller({ unverified: true, sending: 'only:human@outside.example' })
    const answer = await send(caller, { to: 'human@outside.example', bcc: ['ann@outside.example'] })
    expect(answer).toMatchObject({
      status: 403,
      body: {
        code: 'message_rejected',
        message: 'Message rejected: Recipient(s) blocked: ann@outside.example (not in allow list)',
        fix: expect.stringContaining('/v0/agent/verify'),
      },
    })
    await expectNothingLeft(caller)
  })

  it('refuses all when there is no human', async () => {
    const answer = await send(inboxCaller({ unverified: true, sending: 'none' }), { to: 'human@outside.example' })
    expect(answer).toMatchObject({ status: 403, body: { code: 'message_rejected' } })
  })

  it('refuses the whole send when one recipient is suppressed, for this organization only', async () => {
    const caller = inboxCaller()
    const [blocked, fine] = [someone('blocked'), someone('fine')]
    await fixture.db.transaction((tx) => listEntries.suppress(tx, caller.organization_id, blocked, 'bounced'))
    const answer = await send(caller, { to: [fine, blocked.toUpperCase()] })
    expect(answer).toMatchObject({
      status: 403,
      body: { message: `Message rejected: Recipient(s) blocked: ${blocked} (bounced)` },
    })
    expect((await send(inboxCaller(), { to: blocked })).status).toBe(200)
  })

  it('refuses an inbox on a domain that cannot send', async () => {
    const caller = inboxCaller()
    const elsewhere = { ...caller, inbox: { ...caller.inbox, address: 'desk@elsewhere.example' } }
    expect(await send(elsewhere, { to: someone() })).toMatchObject({
      status: 403,
      body: { code: 'domain_not_verified' },
    })
  })
})

describe('messages.send: 413', () => {
  it('refuses a body over 6 MB with only a message', async () => {
    const answer = await send(inboxCaller(), { to: someone(), text: 'x'.repeat(6 * 1024 * 1024) })
    expect(answer.status).toBe(413)
    expect(Object.keys(answer.body)).toEqual(['message'])
  })
})

describe('messages.send: 422', () => {
  it('refuses a message without recipients', async () => {
    const caller = inboxCaller()
    expect(await send(caller, { text: 'x' }, randomUUID())).toMatchObject({
      status: 422,
      body: { code: 'unprocessable' },
    })
    await expectNothingLeft(caller)
  })

  it('refuses open tracking on a shared domain', async () => {
    const answer = await send(inboxCaller(), { to: someone(), html: '<p>x</p>', track_opens: true })
    expect(answer).toMatchObject({ status: 422, body: { code: 'unprocessable' } })
  })
})

describe('messages.send: 429', () => {
  beforeEach(() => lastingPeriod(86_400_000))

  it('counts each recipient, also for parallel sends', async () => {
    const human = someone('human')
    const caller = inboxCaller({ unverified: true, sending: `only:${human}` })
    const answers = await Promise.all(Array.from({ length: 15 }, () => send(caller, { to: human })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5)
    await waitFor(() => fixture.outside.mailsTo(human).length === 10, { what: 'ten mails' })
  })
})
