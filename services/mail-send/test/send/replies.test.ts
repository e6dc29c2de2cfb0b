import { randomUUID } from 'node:crypto'
import type { OperationId } from '@restante/contracts/operations'
import { countRows } from '@restante/testkit'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'
import { type Source, sourceOf } from '../support/sources.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
})
afterAll(() => fixture.stop())

function sourceFor(caller: SendingCaller, changes: Partial<Source> = {}): Source {
  const source = sourceOf(caller, changes)
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'mail-ingest.getReplySource': async ({ inbox_uid, message_id }) =>
      inbox_uid === caller.inbox.uid && message_id === source.message_id ? { source } : {},
  }
  return source
}

function reply(
  caller: SendingCaller,
  source: Source,
  body: unknown,
  operation: Extract<OperationId, 'messages.reply' | 'messages.replyAll'> = 'messages.reply',
  key?: string,
): Promise<Answer> {
  const verb = operation === 'messages.reply' ? 'reply' : 'reply-all'
  const path = `/messages/${encodeURIComponent(source.message_id)}/${verb}`
  return fixture.call(operation, caller, { path, body, ...(key !== undefined && { key }) })
}

const bare = (display: string | undefined): string => /<(.+)>/.exec(display ?? '')?.[1] ?? display ?? ''

describe('messages.reply', () => {
  describe('messages.reply: 200', () => {
    it('answers a message that the inbox has just sent, whose copy is not in the mailbox yet', async () => {
      const caller = inboxCaller()
      const placed: string[] = []
      fixture.peers.answers = {
        'mail-ingest.placeSent': async () => 503,
        'mail-ingest.getReplySource': async () => ({}),
      }
      const body = { to: 'bo@outside.example', text: 'first' }
      const first = await fixture.call('messages.send', caller, { path: '/messages/send', body })
      const [message_id, thread_id] = [String(first.body['message_id']), String(first.body['thread_id'])]
      fixture.peers.answers = {
        'mail-ingest.placeSent': async (copy) => {
          placed.push(copy.message_id)
          return {}
        },
        'mail-ingest.getReplySource': async (asked) =>
          placed.includes(asked.message_id)
            ? { source: { ...sourceOf(caller), message_id, thread_id, sent: true, to: ['bo@outside.example'] } }
            : {},
      }
      const path = `/messages/${encodeURIComponent(message_id)}/reply`
      const answer = await fixture.call('messages.reply', caller, { path, body: { text: 'and another thing' } })
      expect(answer).toMatchObject({ status: 200, body: { thread_id } })
      expect(placed.slice(0, 1)).toEqual([message_id])
    })

    it('answers the sender in the thread, with threading headers and the quote', async () => {
      const caller = inboxCaller()
      const source = sourceFor(caller)
      const answer = await reply(caller, source, { text: 'Gladly.', html: '<b>Gladly.</b>' })
      expect(answer).toMatchObject({ status: 200, body: { thread_id: source.thread_id } })
      const { parsed } = await fixture.outside.next(bare(source.from))
      expect(parsed.subject).toBe('Re: Lunch')
      expect(parsed.inReplyTo).toBe(source.message_id)
      expect(parsed.references).toEqual([...source.references, source.message_id])
      expect(parsed.text).toContain(
        `Gladly.\n\nOn Mon, Aug 24, 2026 at 2:46 PM UTC ${bare(source.from)} wrote:\n\n> Shall we?\n> \n> Ann`,
      )
      expect(parsed.html).toMatch(/<b>Gladly\.<\/b>.*class="gmail_quote".*<blockquote.*Shall we\?/s)
      const copy = fixture.peers
        .requests('mail-ingest.placeSent')
        .find(({ message_id }) => message_id === answer.body['message_id'])
      expect(copy).toMatchObject({
        in_reply_to: source.message_id,
        references: [...source.references, source.message_id],
        extracted_text: 'Gladly.',
        extracted_html: '<b>Gladly.</b>',
      })
    })

    it('answers Reply-To when there is one, keeps an existing Re:, and uses a subject given by the caller', async () => {
      const caller = inboxCaller()
      const list = `list-${randomUUID().slice(0, 6)}@outside.example`
      const source = sourceFor(caller, { reply_to: [list], subject: 're: Lunch' })
      await reply(caller, source, { text: 'x' })
      expect((await fixture.outside.next(list)).parsed.subject).toBe('re: Lunch')
      await reply(caller, source, { text: 'x', subject: 'Dinner instead' })
      await fixture.outside.next(list, { matches: ({ parsed }) => parsed.subject === 'Dinner instead' })
    })

    it("goes to the recipients of the inbox's own message when that is answered", async () => {
      const caller = inboxCaller()
      const to = `zed-${randomUUID().slice(0, 6)}@outside.example`
      const source = sourceFor(caller, { sent: true, from: caller.inbox.address, to: [to], cc: [] })
      await reply(caller, source, { text: 'One more thing.' })
      await fixture.outside.next(to)
    })

    it("is not open to header injection, whatever the source's headers contain", async () => {
      const caller = inboxCaller()
      const source = sourceFor(caller, {
        subject: 'Lunch\r\nBcc: mallory@outside.example',
        references: ['<a\u0000b@outside.example>', '<fine@outside.example>'],
      })
      expect((await reply(caller, source, { text: 'x' })).status).toBe(200)
      const { parsed } = await fixture.outside.next(bare(source.from))
      expect(parsed.headers.has('bcc')).toBe(false)
      expect(parsed.references).toEqual(['<fine@outside.example>', source.message_id])
    })
  })

  it('400: refuses reply_all together with recipients', async () => {
    const caller = inboxCaller()
    const answer = await reply(caller, sourceFor(caller), { reply_all: true, to: 'ann@outside.example' })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: ['reply_all'] }] } })
  })

  it('403: refuses a paused inbox, after the message was found', async () => {
    const caller = inboxCaller()
    const source = sourceFor(caller)
    const paused = { ...caller, inbox: { ...caller.inbox, paused: true } }
    expect((await reply(paused, source, {})).body['code']).toBe('inbox_paused')
    expect(await reply(paused, { ...source, message_id: '<no@where>' }, {})).toMatchObject({ status: 404 })
  })

  it("404: finds no missing message, and only those that the caller's key may see", async () => {
    const caller = inboxCaller()
    const credential = { ...caller.credential, permissions: ['message_send', 'label_trash_read'] }
    const source = { ...sourceFor(caller), message_id: `<${randomUUID()}@gone.example>` }
    const answer = await reply({ ...caller, credential }, source, { text: 'x' }, 'messages.reply', randomUUID())
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found', message: 'Message not found' } })
    const asked = fixture.peers
      .requests('mail-ingest.getReplySource')
      .find(({ message_id }) => message_id === source.message_id)
    expect(asked).toMatchObject({ inbox_uid: caller.inbox.uid, visible_labels: ['trash'] })
    expect(await countRows(fixture.db, 'idempotency_keys where inbox_uid = $1', caller.inbox.uid)).toBe(0)
  })

  it('422: refuses when there is no one to answer', async () => {
    const caller = inboxCaller()
    const answer = await reply(caller, sourceFor(caller, { author: 'ann@localhost' }), { text: 'x' })
    expect(answer).toMatchObject({ status: 422, body: { code: 'unprocessable' } })
  })

  it('422: refuses to answer a mail that does not name exactly one sender, unless it has a Reply-To', async () => {
    const caller = inboxCaller()
    const text = { from: '"CEO <ceo at bank.example>, eve at evil.example"', author: undefined }
    const source = sourceFor(caller, text)
    const refused = { status: 422, body: { code: 'unprocessable', fix: expect.stringContaining('to') } }
    expect(await reply(caller, source, { text: 'x' })).toMatchObject(refused)
    expect(await reply(caller, source, { text: 'x', cc: ['zed@outside.example'] })).toMatchObject(refused)
    expect(await reply(caller, source, { text: 'x' }, 'messages.replyAll')).toMatchObject(refused)
    expect((await reply(caller, source, { text: 'x', to: ['zed@outside.example'] })).status).toBe(200)
    const named = sourceFor(caller, { ...text, reply_to: [`list-${randomUUID().slice(0, 6)}@outside.example`] })
    expect((await reply(caller, named, { text: 'x' })).status).toBe(200)
  })

  it('503: asks to retry later while the mailbox does not answer', async () => {
    const caller = inboxCaller()
    const source = sourceFor(caller)
    fixture.peers.answers = {}
    const answer = await reply(caller, source, { text: 'x' })
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } })
  })
})

describe('messages.replyAll', () => {
  it('200: answers everyone else, and ignores given recipients', async () => {
    const caller = inboxCaller()
    const source = sourceFor(caller)
    const [, bo = ''] = source.to
    const [cy = ''] = source.cc ?? []
    const answer = await reply(caller, source, { text: 'All', to: 'mallory@outside.example' }, 'messages.replyAll')
    expect(answer).toMatchObject({ status: 200, body: { thread_id: source.thread_id } })
    for (const address of [bo, bare(source.from), cy]) await fixture.outside.next(address)
    const copy = fixture.peers
      .requests('mail-ingest.placeSent')
      .find(({ message_id }) => message_id === answer.body['message_id'])
    expect(copy).toMatchObject({ to: [bo, source.from], cc: [cy] })
    expect(fixture.outside.mailsTo('mallory@outside.example')).toEqual([])
  })

  it('200: does the same as reply with reply_all', async () => {
    const caller = inboxCaller()
    const source = sourceFor(caller)
    expect((await reply(caller, source, { text: 'All', reply_all: true })).status).toBe(200)
    for (const address of [source.to[1] ?? '', ...(source.cc ?? [])]) await fixture.outside.next(address)
  })

  it('400: refuses more than 50 derived recipients', async () => {
    const caller = inboxCaller()
    const to = Array.from({ length: 51 }, (_, index) => `r${index}@outside.example`)
    const answer = await reply(caller, sourceFor(caller, { to }), { text: 'x' }, 'messages.replyAll')
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } })
  })

  it('404: does not find what is not there', async () => {
    const caller = inboxCaller()
    const source = { ...sourceFor(caller), message_id: '<nothing@outside.example>' }
    expect((await reply(caller, source, { text: 'x' }, 'messages.replyAll')).status).toBe(404)
  })

  it('422: refuses when no one else was involved', async () => {
    const caller = inboxCaller()
    const source = sourceFor(caller, { author: caller.inbox.address, to: [caller.inbox.address], cc: [] })
    expect((await reply(caller, source, { text: 'x' }, 'messages.replyAll')).status).toBe(422)
  })
})
