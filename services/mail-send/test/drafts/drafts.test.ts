import { randomUUID } from 'node:crypto'
import { countRows, queryRows } from '@restante/testkit'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'
import { holdMessage, sourceOf } from '../support/sources.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

function someone(): string {
  return `ann-${randomUUID().slice(0, 8)}@outside.example`
}

function create(caller: SendingCaller, body: unknown): Promise<Answer> {
  return fixture.call('drafts.create', caller, { path: '/drafts', body })
}

async function created(caller: SendingCaller, body: unknown): Promise<Answer['body'] & { draft_id: string }> {
  const { status, body: draft } = await create(caller, body)
  expect({ status, draft }).toMatchObject({ status: 200, draft: { draft_id: expect.any(String) } })
  return { ...draft, draft_id: String(draft.draft_id) }
}

function update(caller: SendingCaller, id: string, body: unknown): Promise<Answer> {
  return fixture.call('drafts.update', caller, { method: 'PATCH', path: `/drafts/${id}`, body })
}

function get(caller: SendingCaller, id: string): Promise<Answer> {
  return fixture.call('drafts.get', caller, { method: 'GET', path: `/drafts/${id}` })
}

function list(caller: SendingCaller | Omit<SendingCaller, 'inbox'>, query = ''): Promise<Answer> {
  return fixture.call('drafts.list', caller, { method: 'GET', path: `/drafts${query}` })
}

function remove(caller: SendingCaller, id: string): Promise<Answer> {
  return fixture.call('drafts.delete', caller, { method: 'DELETE', path: `/drafts/${id}` })
}

function sendDraft(caller: SendingCaller, id: string, body: unknown = {}, key?: string): Promise<Answer> {
  const path = `/drafts/${id}/send`
  return fixture.call('drafts.send', caller, { path, body, ...(key !== undefined && { key }) })
}

function content(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The errors of an answer, by field. */
function errorsOf({ body }: Answer): unknown {
  return body.errors
}

describe('a draft', () => {
  it('has what it was given, and is listed without its bodies', async () => {
    const caller = inboxCaller()
    const to = someone()
    const draft = await created(caller, {
      to: `Ann <${to}>`,
      cc: ['bo@outside.example'],
      reply_to: 'desk@outside.example',
      subject: 'Hello',
      text: `${'x'.repeat(199)}yz`,
      html: '<p>x</p>',
      labels: ['Todo', 'draft'],
      client_id: 'first',
      attachments: [{ filename: 'a.txt', content: content('one'), content_type: 'text/plain' }],
      headers: { 'X-A': 'ignored' },
      track_opens: true,
    })
    expect(draft).toEqual({
      pod_id: caller.inbox.pod_id,
      inbox_id: caller.inbox.address,
      draft_id: draft.draft_id,
      client_id: 'first',
      labels: ['draft', 'todo'],
      to: [`Ann <${to}>`],
      cc: ['bo@outside.example'],
      reply_to: ['desk@outside.example'],
      subject: 'Hello',
      preview: `${'x'.repeat(199)}y`,
      text: `${'x'.repeat(199)}yz`,
      html: '<p>x</p>',
      attachments: [
        {
          attachment_id: expect.any(String),
          filename: 'a.txt',
          content_type: 'text/plain',
          content_disposition: 'attachment',
          size: 3,
        },
      ],
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect((await get(caller, draft.draft_id)).body).toEqual(draft)
    const { client_id: _, text: __, html: ___, reply_to: ____, ...item } = draft
    expect((await list(caller)).body).toEqual({ count: 1, drafts: [item] })
  })

  it('shows of its files what the message will say of them', async () => {
    const caller = inboxCaller()
    const to = someone()
    const given = [
      { filename: 'menu.pdf' },
      { filename: 'logo.PNG', content_id: '<logo>' },
      { filename: 'data.unknown' },
      { filename: 'page.html', content_type: 'application/zip', content_disposition: 'inline' },
      {},
    ]
    const attachments = given.map((facts) => ({ ...facts, content: content('x') }))
    const draft = await created(caller, { to, html: '<img src="cid:logo">', attachments })
    const shown = [
      ['application/pdf', 'attachment'],
      ['image/png', 'inline'],
      ['application/octet-stream', 'attachment'],
      ['application/zip', 'inline'],
      ['application/octet-stream', 'attachment'],
    ]
    const facts = attachmentsOf(draft).map(({ content_type, content_disposition }) => [
      content_type,
      content_disposition,
    ])
    expect(facts).toEqual(shown)
    expect((await sendDraft(caller, draft.draft_id)).status).toBe(200)
    const { parsed } = await fixture.outside.next(to)
    const sent = parsed.attachments.map(({ contentType, contentDisposition }) => [contentType, contentDisposition])
    expect(sent.sort()).toEqual(shown.sort())
  })

  it('may be empty', async () => {
    const { body } = await create(inboxCaller(), {})
    expect(body).toMatchObject({ labels: ['draft'] })
    expect(Object.keys(body).sort()).toEqual(['created_at', 'draft_id', 'inbox_id', 'labels', 'pod_id', 'updated_at'])
  })

  it('is found by its client_id again, whatever else is given, until it is deleted', async () => {
    const caller = inboxCaller()
    const first = await created(caller, { client_id: 'once', text: 'first' })
    expect(await created(caller, { client_id: 'once', text: 'second' })).toEqual(first)
    expect(await created(inboxCaller(), { client_id: 'once', text: 'other' })).not.toMatchObject(first)
    expect((await remove(caller, first.draft_id)).status).toBe(204)
    expect(await created(caller, { client_id: 'once', text: 'third' })).toMatchObject({ text: 'third' })
  })

  it('with one client_id is created once by ten requests at a time', async () => {
    const caller = inboxCaller()
    const many = await Promise.all(Array.from({ length: 10 }, () => created(caller, { client_id: 'ten', text: 'x' })))
    expect(new Set(many.map(({ draft_id }) => draft_id)).size).toBe(1)
    expect(await countRows(fixture.db, 'drafts where inbox_uid = $1', caller.inbox.uid)).toBe(1)
  })

  it('is 404 for everyone else', async () => {
    const draft = await created(inboxCaller(), { text: 'mine' })
    const other = inboxCaller()
    const answers = [
      await get(other, draft.draft_id),
      await update(other, draft.draft_id, { text: 'theirs' }),
      await remove(other, draft.draft_id),
      await sendDraft(other, draft.draft_id),
      await get(other, 'no-uuid'),
      await update(other, 'no-uuid', {}),
    ]
    expect(answers.map(({ status, body }) => [status, body.message])).toEqual(
      answers.map(() => [404, 'Draft not found']),
    )
  })
})

describe('a new draft is 400', () => {
  const at = '2031-01-01T00:00:00Z'
  it.each([
    [{ in_reply_to: '<a@b>', forward_of: '<c@d>' }, 'forward_of'],
    [{ reply_all: true }, 'reply_all'],
    [{ in_reply_to: '<a@b>', reply_all: true, to: 'ann@outside.example' }, 'reply_all'],
    [{ send_at: at }, 'send_at'],
    [{ send_at: at, forward_of: '<a@b>' }, 'send_at'],
    [{ to: 'ann@outside.example', send_at: '2031-01-01' }, 'send_at'],
    [{ to: 'not an address' }, 'to'],
    [{ labels: ['scheduled'] }, 'labels'],
    [{ client_id: 'a b' }, 'client_id'],
    [{ subject: 'a\r\nBcc: b@c.example' }, 'subject'],
    [{ attachments: [{ file_id: 'f' }] }, 'attachments'],
    [{ attachments: [{ url: 'mid:%00x@y/abc' }] }, 'attachments'],
    [{ attachments: [{ url: 'mid:a@y/b%0Ac' }] }, 'attachments'],
  ])('%j', async (body, field) => {
    const caller = inboxCaller()
    const answer = await create(caller, body)
    expect(answer.status).toBe(400)
    expect(errorsOf(answer)).toEqual([expect.objectContaining({ path: expect.arrayContaining([field]) })])
    expect(await countRows(fixture.db, 'drafts where inbox_uid = $1', caller.inbox.uid)).toBe(0)
  })
})

describe('a draft that answers', () => {
  it('has the recipients, the subject and the references of a reply, and no quote', async () => {
    const caller = inboxCaller()
    const source = holdMessage(fixture, sourceOf(caller))
    const draft = await created(caller, { in_reply_to: source.message_id, text: 'Yes.' })
    expect(draft).toMatchObject({
      to: [source.from],
      subject: 'Re: Lunch',
      text: 'Yes.',
      in_reply_to: source.message_id,
      references: [...source.references, source.message_id],
    })
    const toAll = await created(caller, { in_reply_to: source.message_id, reply_all: true })
    expect(toAll).toMatchObject({ to: [source.to[1], source.from], cc: source.cc })
    const given = await created(caller, { in_reply_to: source.message_id, to: 'x@outside.example', subject: 'New' })
    expect(given).toMatchObject({ to: ['x@outside.example'], subject: 'New' })
  })

  it('needs message_read, and a message that the key can see', async () => {
    const caller = inboxCaller()
    const source = holdMessage(fixture, sourceOf(caller))
    const blind = { ...caller, credential: { ...caller.credential, permissions: ['draft_create', 'draft_read'] } }
    const { status, body } = await create(blind, { in_reply_to: source.message_id })
    expect([status, body.code, body.fix]).toEqual([403, 'missing_permission', expect.stringContaining('message_read')])
    expect((await create(caller, { forward_of: '<unknown@outside.example>' })).body.message).toBe('Message not found')
  })

  it('refers to files of messages only with message_read, and before anything is fetched', async () => {
    const caller = inboxCaller()
    const blind = { ...caller, credential: { ...caller.credential, permissions: ['draft_create', 'message_send'] } }
    const attachments = [{ url: 'https://unreachable.invalid/' }, { url: 'mid:a%40b/c' }]
    expect((await create(blind, { attachments })).body.fix).toContain('message_read')
    const body = { to: someone(), attachments }
    const answer = await fixture.call('messages.send', blind, { path: '/messages/send', body })
    expect(answer.body).toMatchObject({ code: 'missing_permission', fix: expect.stringContaining('message_read') })
  })

  it('with a slow file is not created twice by a caller that disconnects and repeats', async () => {
    const caller = inboxCaller()
    const id = randomUUID()
    const source = holdMessage(fixture, sourceOf(caller, { attachments: [{ attachment_id: id, size: 1 }] }), {
      [id]: Buffer.from('x'),
    })
    const { answers } = fixture.peers
    const copy = answers['mail-ingest.copyFiles']
    const asked = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    fixture.peers.answers = {
      ...answers,
      'mail-ingest.copyFiles': async (request) => {
        asked.resolve()
        await go.promise
        return copy?.(request) ?? 503
      },
    }
    const leaving = new AbortController()
    const attachments = [{ message_id: source.message_id, attachment_id: id }]
    const request = fixture.call('drafts.create', caller, {
      path: '/drafts',
      body: { attachments },
      signal: leaving.signal,
    })
    await asked.promise
    leaving.abort()
    await expect(request).rejects.toThrow()
    // The service answers this after it has learnt that the connection of the other request is closed.
    expect((await list(caller)).body).toMatchObject({ count: 0 })
    go.resolve()
    expect((await create(caller, { attachments })).status).toBe(200)
    fixture.peers.answers = answers
    expect(await countRows(fixture.db, 'drafts where inbox_uid = $1', caller.inbox.uid)).toBe(1)
  })

  it('is made by its older names too', async () => {
    const caller = inboxCaller()
    const source = holdMessage(fixture, sourceOf(caller))
    const path = `/messages/${encodeURIComponent(source.message_id)}`
    const reply = await fixture.call('messages.draftReply', caller, { path: `${path}/draft-reply`, body: {} })
    expect(reply.body).toMatchObject({ in_reply_to: source.message_id, to: [source.from] })
    const all = await fixture.call('messages.draftReplyAll', caller, {
      path: `${path}/draft-reply-all`,
      body: { to: 'ignored@outside.example' },
    })
    expect(all.body).toMatchObject({ in_reply_to: source.message_id, to: [source.to[1], source.from] })
    const forward = await fixture.call('messages.draftForward', caller, { path: `${path}/draft-forward`, body: {} })
    expect(forward.body).toMatchObject({ forward_of: source.message_id, subject: 'Fwd: Lunch' })
    expect(forward.body).not.toHaveProperty('to')
  })
})

describe('a change', () => {
  it('leaves what is omitted, and clears with null or an empty list', async () => {
    const caller = inboxCaller()
    const draft = await created(caller, { to: 'a@outside.example', cc: 'c@outside.example', subject: 's', text: 't' })
    const changed = await update(caller, draft.draft_id, { subject: null, cc: [], html: '<b>h</b>', client_id: 'x' })
    expect(changed.body).toEqual({
      ...omit(draft, 'subject', 'cc'),
      html: '<b>h</b>',
      updated_at: expect.any(String),
    })
    expect((await update(caller, draft.draft_id, { to: null, text: null })).body).not.toHaveProperty('to')
  })

  it('adds and removes labels and attachments', async () => {
    const caller = inboxCaller()
    const attachments = ['one', 'two'].map((name) => ({ filename: `${name}.txt`, content: content(name) }))
    const draft = await created(caller, { labels: ['a', 'b'], attachments })
    const [{ attachment_id: first = '' } = {}] = attachmentsOf(draft)
    const changed = await update(caller, draft.draft_id, {
      add_labels: ['c', 'a'],
      remove_labels: ['b', 'c'],
      add_attachments: [{ filename: 'three.txt', content: content('three') }],
      remove_attachments: [first],
    })
    expect(changed.body.labels).toEqual(['draft', 'a'])
    expect(attachmentsOf(changed.body).map(({ filename }) => filename)).toEqual(['two.txt', 'three.txt'])
    const again = await update(caller, draft.draft_id, { remove_attachments: [first] })
    expect([again.status, again.body.message]).toEqual([404, 'Attachment not found'])
    expect(attachmentsOf((await get(caller, draft.draft_id)).body)).toHaveLength(2)
  })

  it('is 400 beyond 50 recipients or 256 labels, counted with what the draft has', async () => {
    const caller = inboxCaller()
    const many = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@x.example`)
    const draft = await created(caller, { to: many(30), labels: Array.from({ length: 256 }, (_, n) => `l${n}`) })
    expect((await update(caller, draft.draft_id, { cc: many(21) })).status).toBe(400)
    expect((await update(caller, draft.draft_id, { add_labels: ['one more'] })).status).toBe(400)
  })

  it('is refused when the attachments become more than a message can have', async () => {
    const caller = inboxCaller()
    const draft = await created(caller, { attachments: [{ content: content('x') }] })
    await queryRows(fixture.db, 'update files set size = 30 * 1024 * 1024 where draft_id = $1', draft.draft_id)
    const { status, body } = await update(caller, draft.draft_id, { add_attachments: [{ content: content('y') }] })
    expect([status, body.code]).toEqual([403, 'message_rejected'])
  })
})

describe('lists', () => {
  it('show the last changed first, by page, label and time', async () => {
    const caller = inboxCaller()
    const made = []
    for (const label of ['a', 'b', 'a']) made.push(await created(caller, { labels: [label], text: label }))
    await update(caller, made[0]?.draft_id ?? '', { subject: 'newest' })
    const ids = ({ body }: Answer) => (body.drafts as { draft_id: string }[]).map(({ draft_id }) => draft_id)
    const order = [made[0], made[2], made[1]].map((draft) => draft?.draft_id)
    expect(ids(await list(caller))).toEqual(order)
    expect(ids(await list(caller, '?ascending=true'))).toEqual(order.toReversed())
    const first = await list(caller, '?limit=2')
    expect(first.body).toMatchObject({ count: 2, limit: 2, next_page_token: expect.any(String) })
    const second = await list(caller, `?limit=2&page_token=${encodeURIComponent(String(first.body.next_page_token))}`)
    expect([...ids(first), ...ids(second)]).toEqual(order)
    expect(second.body).not.toHaveProperty('next_page_token')
    expect(ids(await list(caller, '?labels=%5B%22A%22%5D'))).toEqual([order[0], order[1]])
    const after = encodeURIComponent(String(made[2]?.updated_at))
    expect(ids(await list(caller, `?after=${after}`))).toEqual([order[0]])
    expect(ids(await list(caller, `?before=${after}`))).toEqual([order[2]])
    const { inbox, ...organization } = caller
    expect(ids(await list(organization))).toEqual(order)
    expect(ids(await list({ ...organization, pod_id: inbox.pod_id }))).toEqual(order)
    expect(ids(await list({ ...organization, pod_id: randomUUID() }))).toEqual([])
    expect((await list(caller, '?labels=a&limit=101')).status).toBe(400)
  })
})

describe('an attachment of a draft', () => {
  it('is downloaded by a signed link, as a file and never as a page', async () => {
    const caller = inboxCaller()
    const draft = await created(caller, {
      attachments: [{ filename: 'pä.html', content: content('<b>'), content_type: 'text/html' }],
    })
    const [{ attachment_id = '' } = {}] = attachmentsOf(draft)
    const path = `/drafts/${draft.draft_id}/attachments/${attachment_id}`
    const { body } = await fixture.call('drafts.getAttachment', caller, { method: 'GET', path })
    expect(body).toMatchObject({ attachment_id, size: 3, expires_at: expect.any(String) })
    const url = String(body.download_url)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:3000\/v0\/draft-files\//)
    const download = (token: string) =>
      fixture.call('draftFiles.download', caller, { method: 'GET', path: `/draft-files/${token}` })
    const token = url.slice(url.lastIndexOf('/') + 1)
    const file = await download(token)
    expect([file.status, file.body.text]).toEqual([200, '<b>'])
    expect(file.headers.get('content-disposition')).toContain("filename*=UTF-8''p%C3%A4.html")
    expect(file.headers.get('x-content-type-options')).toBe('nosniff')
    expect((await download(`${token.slice(0, -8)}AAAAAAAA`)).status).toBe(403)
    await update(caller, draft.draft_id, { remove_attachments: [attachment_id] })
    expect((await download(token)).status).toBe(404)
  })
})

describe('sending a draft', () => {
  it('sends what it has and deletes it', async () => {
    const caller = inboxCaller()
    const to = someone()
    const draft = await created(caller, {
      to,
      subject: 'Ready',
      text: 'The text',
      labels: ['todo', 'keep'],
      attachments: [{ filename: 'a.txt', content: content('one') }],
    })
    const answer = await sendDraft(caller, draft.draft_id, { add_labels: ['new'], remove_labels: ['todo'] })
    expect(answer).toMatchObject({ status: 200, body: { message_id: expect.any(String) } })
    const { parsed } = await fixture.outside.next(to)
    expect([parsed.subject, parsed.text?.trim(), parsed.attachments.map((one) => one.content.toString())]).toEqual([
      'Ready',
      'The text',
      ['one'],
    ])
    const [copy] = fixture.peers.requests('mail-ingest.placeSent').slice(-1)
    expect(copy?.labels).toEqual(['keep', 'new'])
    expect((await get(caller, draft.draft_id)).status).toBe(404)
    expect((await sendDraft(caller, draft.draft_id)).body.message).toBe('Draft not found')
    expect(await countRows(fixture.db, 'files where draft_id = $1', draft.draft_id)).toBe(0)
  })

  it('adds the quote of a reply, and the whole of what is forwarded with its files', async () => {
    const caller = inboxCaller()
    const id = randomUUID()
    const source = holdMessage(
      fixture,
      sourceOf(caller, {
        attachments: [{ attachment_id: id, filename: 'menu.pdf', content_type: 'application/pdf', size: 4 }],
      }),
      { [id]: Buffer.from('menu') },
    )
    const reply = await created(caller, { in_reply_to: source.message_id, text: 'Yes.' })
    const replied = await sendDraft(caller, reply.draft_id)
    expect(replied.body.thread_id).toBe(source.thread_id)
    const { parsed: answer } = await fixture.outside.next(addressIn(source.from))
    expect(answer.text).toMatch(/^Yes\.\n\nOn Mon, Aug 24, 2026 at 2:46 PM UTC .* wrote:\n\n> Shall we\?/)
    const to = someone()
    const forward = await created(caller, { forward_of: source.message_id, to, text: 'See below.' })
    expect((await sendDraft(caller, forward.draft_id)).body.thread_id).toBe(source.thread_id)
    const { parsed } = await fixture.outside.next(to)
    expect(parsed.text).toContain('See below.\n\n---------- Forwarded message ---------\nFrom: ')
    expect(parsed.attachments.map(({ filename, content }) => [filename, content.toString()])).toEqual([
      ['menu.pdf', 'menu'],
    ])
  })

  it('sends on what the sender of a hostile mail has named, without what no header may contain', async () => {
    const caller = inboxCaller()
    const id = randomUUID()
    const attachments = [
      {
        attachment_id: id,
        filename: 'a\u2028b\n.png',
        content_id: 'a\u2028b@c',
        content_type: 'image/png\r\nX: 1',
        size: 1,
      },
    ]
    const source = holdMessage(fixture, sourceOf(caller, { attachments }), { [id]: Buffer.from('x') })
    const to = someone()
    const path = `/messages/${encodeURIComponent(source.message_id)}/forward`
    expect((await fixture.call('messages.forward', caller, { path, body: { to } })).status).toBe(200)
    const { parsed } = await fixture.outside.next(to)
    expect(parsed.attachments.map(({ filename, cid }) => [filename, cid])).toEqual([['ab.png', undefined]])
  })

  it('leaves line separators out of the name of a stored file', async () => {
    const caller = inboxCaller()
    const to = someone()
    const draft = await created(caller, { to, attachments: [{ filename: 'a.txt', content: content('one') }] })
    await queryRows(
      fixture.db,
      'update files set filename = $2 where draft_id = $1',
      draft.draft_id,
      'a\u2028b\u2029.txt',
    )
    const read = await get(caller, draft.draft_id)
    expect(attachmentsOf(read.body)).toMatchObject([{ filename: 'ab.txt' }])
    const path = `/drafts/${draft.draft_id}/attachments/${attachmentsOf(read.body)[0]?.attachment_id}`
    const { body } = await fixture.call('drafts.getAttachment', caller, { method: 'GET', path })
    const url = String(body.download_url)
    const file = await fixture.call('draftFiles.download', caller, {
      method: 'GET',
      path: `/draft-files/${url.slice(url.lastIndexOf('/') + 1)}`,
    })
    expect(file.headers.get('content-disposition')).toContain("filename*=UTF-8''ab.txt")
    const copyTo = someone()
    const copy = { path: '/messages/send', body: { to: copyTo, attachments: [{ url }] } }
    expect((await fixture.call('messages.send', caller, copy)).status).toBe(200)
    expect((await sendDraft(caller, draft.draft_id)).status).toBe(200)
    for (const recipient of [to, copyTo]) {
      const { parsed } = await fixture.outside.next(recipient)
      expect(parsed.attachments.map(({ filename }) => filename)).toEqual(['ab.txt'])
    }
  })

  it('is refused when its files and those of what it forwards are too large together', async () => {
    const caller = inboxCaller()
    const id = randomUUID()
    const attachments = [{ attachment_id: id, filename: 'a.bin', size: 20_000_000 }]
    const source = holdMessage(fixture, sourceOf(caller, { attachments }), { [id]: Buffer.alloc(20_000_000) })
    const draft = await created(caller, {
      forward_of: source.message_id,
      to: someone(),
      attachments: [{ content: content('x') }],
    })
    await queryRows(fixture.db, 'update files set size = 15000000 where draft_id = $1', draft.draft_id)
    const { status, body } = await sendDraft(caller, draft.draft_id)
    expect([status, body.code]).toEqual([403, 'message_rejected'])
  })

  it.each<[string, object]>([
    ['a reply', {}],
    ['a reply to all', { reply_all: true }],
  ])('that is %s goes to those whom it shows, and not to the author who was taken out', async (_, body) => {
    const caller = inboxCaller()
    const source = holdMessage(fixture, sourceOf(caller))
    const draft = await created(caller, { in_reply_to: source.message_id, text: 'Yes.', ...body })
    const cc = someone()
    const changed = await update(caller, draft.draft_id, { to: [], cc: [cc] })
    expect(changed.body).toMatchObject({ cc: [cc] })
    expect((await sendDraft(caller, draft.draft_id)).status).toBe(200)
    const [copy] = fixture.peers.requests('mail-ingest.placeSent').slice(-1)
    expect([copy?.to, copy?.cc, copy?.bcc]).toEqual([[], [cc], undefined])
    const { parsed } = await fixture.outside.next(cc)
    expect(parsed.text).toContain('Yes.\n\nOn Mon, Aug 24')
    expect(fixture.outside.mailsTo(addressIn(source.from))).toEqual([])
  })

  it.each<[string, object]>([
    ['a reply', {}],
    ['a reply to all', { reply_all: true }],
  ])('that is %s is 422 when all recipients were taken out', async (_, body) => {
    const caller = inboxCaller()
    const source = holdMessage(fixture, sourceOf(caller))
    const draft = await created(caller, { in_reply_to: source.message_id, ...body })
    await update(caller, draft.draft_id, { to: null, cc: null, bcc: null })
    expect((await sendDraft(caller, draft.draft_id)).body).toMatchObject({
      code: 'unprocessable',
      message: 'The message has no recipient',
    })
    expect((await get(caller, draft.draft_id)).status).toBe(200)
  })

  it('that replies to all is 422 where no author could be answered', async () => {
    const caller = inboxCaller()
    const { author: _, ...authorless } = sourceOf(caller)
    const source = holdMessage(fixture, authorless)
    const draft = await created(caller, { in_reply_to: source.message_id, reply_all: true })
    expect(draft).not.toHaveProperty('to')
    expect((await sendDraft(caller, draft.draft_id)).status).toBe(422)
  })

  it('is repeated with its Idempotency-Key although the draft is gone', async () => {
    const caller = inboxCaller()
    const to = someone()
    const draft = await created(caller, { to, text: 'once' })
    const key = randomUUID()
    const first = await sendDraft(caller, draft.draft_id, {}, key)
    expect(first.status).toBe(200)
    expect((await sendDraft(caller, draft.draft_id, {}, key)).body).toEqual(first.body)
    expect((await sendDraft(caller, draft.draft_id, { add_labels: ['x'] }, key)).status).toBe(409)
  })

  it('at the same time, ten times, sends one mail', async () => {
    const caller = inboxCaller()
    const to = someone()
    const draft = await created(caller, { to, text: 'once' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => sendDraft(caller, draft.draft_id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9)
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1', caller.inbox.uid)).toBe(1)
  })

  it('that is refused leaves the draft as it is', async () => {
    const caller = inboxCaller()
    const draft = await created(caller, { text: 'to nobody' })
    expect((await sendDraft(caller, draft.draft_id)).body.code).toBe('unprocessable')
    const paused = { ...caller, inbox: { ...caller.inbox, paused: true } }
    expect((await sendDraft(paused, draft.draft_id)).body.code).toBe('inbox_paused')
    expect((await get(caller, draft.draft_id)).body).toEqual(draft)
  })
})

interface ShownAttachment {
  readonly attachment_id: string
  readonly filename: string
  readonly content_type: string
  readonly content_disposition: string
}

function attachmentsOf({ attachments }: Answer['body']): ShownAttachment[] {
  return Array.isArray(attachments) ? attachments : []
}

function addressIn(display: string): string {
  return /<(.*)>/.exec(display)?.[1] ?? display
}

function omit(draft: Answer['body'], ...members: string[]): Answer['body'] {
  return Object.fromEntries(Object.entries(draft).filter(([name]) => !members.includes(name)))
}
