import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts'
import { type TopicCollection, waitFor } from '@restante/testkit'
import { pathOf, receiveMail, sentCopy } from './mailbox-fixture.ts'
import { openStage, type Stage, type TestInbox } from './stage.ts'

const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'

let stage: Stage
let inbox: TestInbox
let other: TestInbox
let events: TopicCollection

beforeAll(async () => {
  stage = await openStage()
  events = await stage.collect('mail.messages')
}, 60_000)
afterAll(() => stage.stop(), 30_000)
beforeEach(async () => {
  ;[inbox, other] = await Promise.all([stage.inbox(), stage.inbox()])
})

const restricted = (caller: Caller, ...permissions: string[]): Caller => ({
  ...caller,
  credential: {
    ...caller.credential,
    permissions: ['message_read', 'message_update', 'message_delete', ...permissions],
  },
})
const list = async (query = '', caller = inbox.caller) =>
  stage.call(caller, 'messages.list', 'GET', `/messages${query}`)
const subjects = (body: { messages: { subject: string }[] }) => body.messages.map(({ subject }) => subject)
const get = (id: string, caller = inbox.caller) => stage.call(caller, 'messages.get', 'GET', pathOf(id))
const update = (id: string, body: unknown, caller = inbox.caller) =>
  stage.call(caller, 'messages.update', 'PATCH', pathOf(id), body)
const remove = (id: string, caller = inbox.caller) => stage.call(caller, 'messages.delete', 'DELETE', pathOf(id))
const notFound = { status: 404, body: { code: 'not_found', message: 'Message not found' } }

describe('messages.list', () => {
  describe('200', () => {
    it('shows received and sent together, newest first, without bodies and headers', async () => {
      await receiveMail(stage, inbox, { subject: 'old', date: new Date('2026-01-01T00:00:00Z') })
      const copy = await sentCopy(stage, inbox, { timestamp: '2026-01-02T00:00:00.000Z', subject: 'sent' })
      await stage.peer('mail-ingest.placeSent', copy)
      await receiveMail(stage, inbox, { subject: 'new', date: new Date('2026-01-03T00:00:00Z') })
      const { body } = await list()
      expect(subjects(body)).toEqual(['new', 'sent', 'old'])
      expect(body).not.toHaveProperty('limit')
      for (const message of body.messages) {
        for (const member of ['text', 'html', 'headers', 'reply_to']) expect(message).not.toHaveProperty(member)
      }
      expect(subjects((await list('?ascending=true')).body)).toEqual(['old', 'sent', 'new'])
    })

    it('pages by time and id, with tokens that fit no other list', async () => {
      for (const day of [1, 2, 2, 2, 3]) {
        await receiveMail(stage, inbox, {
          subject: `${day}-${randomUUID()}`,
          date: new Date(`2026-01-0${day}T00:00:00Z`),
        })
      }
      const all = subjects((await list()).body)
      const walked: string[] = []
      let token = ''
      do {
        const { body } = await list(`?limit=2${token && `&page_token=${token}`}`)
        expect(body.limit).toBe(2)
        walked.push(...subjects(body))
        token = body.next_page_token ?? ''
      } while (token !== '')
      expect(walked).toEqual(all)
      const { body } = await list('?limit=2')
      expect((await list(`?ascending=true&page_token=${body.next_page_token}`)).status).toBe(400)
      expect((await list(`?page_token=${body.next_page_token}`, other.caller)).status).toBe(400)
    })

    it('filters by all labels, by strict bounds of time, and by substrings without case', async () => {
      const first = await receiveMail(stage, inbox, {
        subject: 'Invoice 100% due',
        date: new Date('2026-01-01T00:00:00Z'),
      })
      await receiveMail(stage, inbox, { subject: 'Lunch', from: 'Bo_b <bo@x.test>', cc: 'Carol <carol@y.test>' })
      await update(first, { add_labels: ['VIP '] })
      const found = async (query: string) => subjects((await list(query)).body)
      expect(await found('?labels=["vip","unread"]')).toEqual(['Invoice 100% due'])
      expect(await found('?labels=vip&labels=nothing')).toEqual([])
      expect(await found('?before=2026-01-01T00:00:00Z')).toEqual([])
      expect(await found('?after=2025-12-31T23:59:59.999Z&before=2026-01-01T00:00:00.001Z')).toEqual([
        'Invoice 100% due',
      ])
      expect(await found('?from=ADA')).toEqual(['Invoice 100% due'])
      expect(await found('?from=o_b')).toEqual(['Lunch'])
      expect(await found('?to=CAROL')).toEqual(['Lunch'])
      expect(await found('?subject=100%25')).toEqual(['Invoice 100% due'])
      expect(await found('?subject=["invoice","due"]')).toEqual(['Invoice 100% due'])
      expect(await found('?subject=["invoice","lunch"]')).toEqual([])
    })

    it('leaves restricted messages out unless permission and include flag let them in', async () => {
      const spam = await receiveMail(stage, inbox, { subject: 'spam', text: GTUBE })
      const trash = await receiveMail(stage, inbox, { subject: 'trash' })
      await update(trash, { add_labels: ['trash'] })
      expect((await list()).body.count).toBe(0)
      expect((await list('?labels=spam')).body.count).toBe(0)
      expect(subjects((await list('?include_spam=true')).body)).toEqual(['spam'])
      expect((await list('?include_spam=true&include_trash=true')).body.count).toBe(2)
      const limited = restricted(inbox.caller, 'label_trash_read')
      expect(subjects((await list('?include_spam=true&include_trash=true', limited)).body)).toEqual(['trash'])
      expect((await get(spam, limited)).status).toBe(404)
      expect((await get(spam)).status).toBe(200)
    })

    it('shows nothing of another inbox', async () => {
      await receiveMail(stage, other)
      expect((await list()).body).toEqual({ count: 0, messages: [] })
    })
  })

  describe('400', () => {
    it.each(['?limit=0', '?limit=101&labels=x', '?page_token=x', '?before=2026-01-01', '?include_spam=yes'])(
      'for %s',
      async (query) => {
        const { status, body } = await list(query)
        expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_error' })
      },
    )
  })
})

describe('messages.get', () => {
  it('200: shows bodies, headers and attachments, and leaves unread alone', async () => {
    const id = await receiveMail(stage, inbox, {
      subject: 'Grüße',
      html: '<p>Hi</p>',
      replyTo: 'Team <team@customer.test>',
      attachments: [{ filename: 'ä.txt', content: 'x' }],
    })
    const { body } = await get(id)
    expect(body).toMatchObject({
      inbox_id: inbox.address,
      message_id: id,
      labels: ['received', 'unread'],
      subject: 'Grüße',
      text: expect.stringContaining('Hello'),
      html: expect.stringContaining('<p>Hi</p>'),
      reply_to: ['Team <team@customer.test>'],
      attachments: [{ filename: 'ä.txt', size: 1, content_type: 'text/plain', content_disposition: 'attachment' }],
    })
    expect(body.headers).toMatchObject({ Subject: 'Grüße', 'Return-Path': '<ada@customer.test>' })
    expect((await get(id)).body.labels).toContain('unread')
  })

  it('404: for an unknown id, and for one of another inbox', async () => {
    expect(await get('<nothing@x.test>')).toMatchObject(notFound)
    expect(await get(await receiveMail(stage, other))).toMatchObject(notFound)
  })
})

describe('messages.getAttachment and files.download', () => {
  it('200: gives a link that needs no key and serves the bytes as a download', async () => {
    const id = await receiveMail(stage, inbox, {
      attachments: [{ filename: 'page "1".html', content: '<script>alert(1)</script>', contentType: 'text/html' }],
    })
    const [attachment] = (await get(id)).body.attachments
    const path = `${pathOf(id)}/attachments/${attachment.attachment_id}`
    const { status, body } = await stage.call(inbox.caller, 'messages.getAttachment', 'GET', path)
    expect(status).toBe(200)
    expect(body).toMatchObject(attachment)
    expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(3_500_000)
    const file = await fetch(body.download_url.replace('http://public.test/v0', stage.url))
    expect(await file.text()).toBe('<script>alert(1)</script>')
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': `attachment; filename="page _1_.html"; filename*=UTF-8''page%20%221%22.html`,
      'x-content-type-options': 'nosniff',
    })
  })

  it('403: for a link that was altered', async () => {
    const id = await receiveMail(stage, inbox)
    const raw = await stage.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    const url = raw.body.download_url.replace('http://public.test/v0', stage.url)
    for (const altered of [
      `${url.slice(0, -8)}AAAAAAAA`,
      `${url}A`,
      `${stage.url}/files/x.y`,
      `${stage.url}/files/x`,
    ]) {
      const answer = await fetch(altered)
      expect(answer.status).toBe(403)
      expect(await answer.json()).toMatchObject({ code: 'forbidden' })
    }
  })

  it('404: for an unknown attachment, and for a file that was deleted', async () => {
    const id = await receiveMail(stage, inbox)
    const path = `${pathOf(id)}/attachments/${randomUUID()}`
    const missing = await stage.call(inbox.caller, 'messages.getAttachment', 'GET', path)
    expect(missing).toMatchObject({ status: 404, body: { message: 'Attachment not found' } })
    const raw = await stage.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    await remove(id)
    const file = await fetch(raw.body.download_url.replace('http://public.test/v0', stage.url))
    expect(file.status).toBe(404)
  })
})

describe('messages.update', () => {
  it('200: adds and removes labels, removal wins, and the thread follows', async () => {
    const id = await receiveMail(stage, inbox)
    const answer = await update(id, {
      add_labels: ['Done', 'both', 'received?'],
      remove_labels: ['unread', 'both', 'absent'],
    })
    expect(answer).toMatchObject({ status: 200, body: { message_id: id, labels: ['received', 'done', 'received?'] } })
    const { body } = await get(id)
    const thread = await stage.call(inbox.caller, 'threads.get', 'GET', `/threads/${body.thread_id}`)
    expect(thread.body.labels).toEqual(['received', 'done', 'received?'])
  })

  it('200: logs each transition once, and nothing for what is so already', async () => {
    const id = await receiveMail(stage, inbox)
    await update(id, { remove_labels: 'unread' })
    await update(id, { remove_labels: ['unread'], add_labels: [] })
    await update(id, { add_labels: ['seen'] })
    const ours = () =>
      events.records
        .filter(({ headers, type }) => headers['ce_subject'] === id && type.startsWith('label.'))
        .map(({ value }) => JSON.parse(value))
    await waitFor(() => ours().length >= 4, { what: 'four label events' })
    expect(ours().map(({ event_type, label }) => `${event_type} ${label}`)).toEqual([
      'label.added received',
      'label.added unread',
      'label.removed unread',
      'label.added seen',
    ])
    const ids = ours().map(({ event_id }) => event_id)
    expect(ids).toEqual(ids.toSorted())
  })

  it('200: writers at the same time all have their effect', async () => {
    const id = await receiveMail(stage, inbox)
    const names = Array.from({ length: 8 }, (_, index) => `label-${index}`)
    await Promise.all(names.map((name) => update(id, { add_labels: [name] })))
    expect((await get(id)).body.labels.toSorted()).toEqual(['received', 'unread', ...names].toSorted())
  })

  it.each([
    [{}],
    [{ add_labels: [] }],
    [{ add_labels: ['sent'] }],
    [{ remove_labels: ['Received'] }],
    [{ add_labels: ['x'.repeat(257)] }],
    [{ add_labels: [' '] }],
    [{ add_labels: Array.from({ length: 255 }, (_, index) => `label ${index}`) }],
  ])('400: for %j', async (body) => {
    const id = await receiveMail(stage, inbox)
    expect(await update(id, body)).toMatchObject({ status: 400, body: { code: 'validation_error' } })
    expect((await get(id)).body.labels).toEqual(['received', 'unread'])
  })

  it('404: for a message that the key may not see', async () => {
    const id = await receiveMail(stage, inbox)
    await update(id, { add_labels: ['trash'] })
    expect(await update(id, { remove_labels: ['trash'] }, restricted(inbox.caller))).toMatchObject(notFound)
    expect(await update(id, { remove_labels: ['trash'] }, restricted(inbox.caller, 'label_trash_read'))).toMatchObject({
      status: 200,
    })
    expect(await update('<nothing@x.test>', { add_labels: ['a'] })).toMatchObject(notFound)
  })
})

describe('messages.delete', () => {
  it('204: takes the message out of its thread, and the thread goes with the last one', async () => {
    const first = await receiveMail(stage, inbox, {
      subject: 'first',
      attachments: [{ filename: 'a.txt', content: 'a' }],
    })
    const second = await receiveMail(stage, inbox, { subject: 'second', inReplyTo: first })
    const { thread_id } = (await get(second)).body
    const thread = () => stage.call(inbox.caller, 'threads.get', 'GET', `/threads/${thread_id}`)
    expect((await thread()).body).toMatchObject({ message_count: 2, subject: 'first' })
    expect(await remove(first)).toMatchObject({ status: 204, text: '' })
    expect(await get(first)).toMatchObject(notFound)
    const rest = (await thread()).body
    expect(rest).toMatchObject({ message_count: 1, subject: 'second', last_message_id: second })
    expect(rest).not.toHaveProperty('attachments')
    expect((await remove(second)).status).toBe(204)
    expect((await thread()).status).toBe(404)
    const deleted = await waitFor(
      () => {
        const ours = events.records.filter(({ type, key }) => type === 'message.deleted' && key === inbox.inbox_uid)
        return ours.length === 2 && ours.map(({ value }) => JSON.parse(value))
      },
      { what: 'the deletions' },
    )
    expect(deleted.map(({ thread_deleted }) => thread_deleted)).toEqual([false, true])
  })

  it('204: deletes the bytes once no inbox needs them', async () => {
    const subject = `for two ${randomUUID()}`
    const id = await receiveMail(stage, inbox, { subject, to: [inbox.address, other.address] })
    await waitFor(async () => (await get(id, other.caller)).status === 200, { what: 'the other copy' })
    await remove(id)
    const raw = await stage.call(other.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    const file = await fetch(raw.body.download_url.replace('http://public.test/v0', stage.url))
    expect(file.status).toBe(200)
    const before = await stage.db.orm.rawMail.count()
    await remove(id, other.caller)
    await waitFor(async () => (await stage.db.orm.rawMail.count()) === before - 1, { what: 'the sweep' })
  })

  it('404: the second time, and for other inboxes', async () => {
    const id = await receiveMail(stage, inbox)
    expect(await remove(id, other.caller)).toMatchObject(notFound)
    expect((await remove(id)).status).toBe(204)
    expect(await remove(id)).toMatchObject(notFound)
  })
})
