import { randomUUID } from 'node:crypto'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, restricted, sentCopy } from '../mailbox-fixture.ts'

const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'

let fixture: Fixture
let inbox: TestInbox
let other: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  ;[inbox, other] = await Promise.all([fixture.inbox(), fixture.inbox()])
})

const list = async (query = '', caller = inbox.caller) =>
  fixture.call(caller, 'messages.list', 'GET', `/messages${query}`)
const subjects = (body: { messages: { subject: string }[] }) => body.messages.map(({ subject }) => subject)
const get = (id: string, caller = inbox.caller) => fixture.call(caller, 'messages.get', 'GET', pathOf(id))
const update = (id: string, body: unknown, caller = inbox.caller) =>
  fixture.call(caller, 'messages.update', 'PATCH', pathOf(id), body)
const remove = (id: string, caller = inbox.caller) => fixture.call(caller, 'messages.delete', 'DELETE', pathOf(id))
const notFound = { status: 404, body: { code: 'not_found', message: 'Message not found' } }

describe('messages.list', () => {
  describe('200', () => {
    it('shows received and sent together, newest first, without bodies and headers', async () => {
      await receiveMail(fixture, inbox, { subject: 'old', date: new Date('2026-01-01T00:00:00Z') })
      const copy = await sentCopy(fixture, inbox, { timestamp: '2026-01-02T00:00:00.000Z', subject: 'sent' })
      await fixture.peer('mail-ingest.placeSent', copy)
      await receiveMail(fixture, inbox, { subject: 'new', date: new Date('2026-01-03T00:00:00Z') })
      const { body } = await list()
      expect(subjects(body)).toEqual(['new', 'sent', 'old'])
      expect(body).not.toHaveProperty('limit')
      for (const message of body.messages) {
        for (const member of ['text', 'html', 'headers', 'reply_to']) expect(message).not.toHaveProperty(member)
      }
      expect(subjects((await list('?ascending=true')).body)).toEqual(['old', 'sent', 'new'])
    })

    it('pages by time and id, with tokens that are invalid for other lists', async () => {
      for (const day of [1, 2, 2, 2, 3]) {
        await receiveMail(fixture, inbox, {
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
      const first = await receiveMail(fixture, inbox, {
        subject: 'Invoice 100% due',
        date: new Date('2026-01-01T00:00:00Z'),
      })
      await receiveMail(fixture, inbox, { subject: 'Lunch', from: 'Bo_b <bo@x.test>', cc: 'Carol <carol@y.test>' })
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

    it('excludes restricted messages without the permission and the include flag', async () => {
      const spam = await receiveMail(fixture, inbox, { subject: 'spam', text: GTUBE })
      const trash = await receiveMail(fixture, inbox, { subject: 'trash' })
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
      await receiveMail(fixture, other)
      expect((await list()).body).toEqual({ count: 0, messages: [] })
    })
  })

  describe('400', () => {
    it.each([
      '?limit=0',
      '?limit=101&labels=x',
      '?labels=%00',
      '?from=%00',
      '?subject=["a%5Cu0000"]',
      '?page_token=x',
      '?before=2026-01-01',
      '?include_spam=yes',
    ])('for %s', async (query) => {
      const { status, body } = await list(query)
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_error' })
    })
  })
})

describe('messages.get', () => {
  it('200: shows bodies, headers and attachments, and leaves unread alone', async () => {
    const id = await receiveMail(fixture, inbox, {
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
    expect((await get('<a\0b@x.test>')).status).toBe(404)
    expect(await get(await receiveMail(fixture, other))).toMatchObject(notFound)
  })
})

describe('messages.getAttachment and files.download', () => {
  it('200: gives a link that needs no key and serves the bytes as a download', async () => {
    const id = await receiveMail(fixture, inbox, {
      attachments: [{ filename: 'page "1".html', content: '<script>alert(1)</script>', contentType: 'text/html' }],
    })
    const [attachment] = (await get(id)).body.attachments
    const path = `${pathOf(id)}/attachments/${attachment.attachment_id}`
    const { status, body } = await fixture.call(inbox.caller, 'messages.getAttachment', 'GET', path)
    expect(status).toBe(200)
    expect(body).toMatchObject(attachment)
    expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(3_500_000)
    const file = await fetch(body.download_url.replace('http://public.test/v0', fixture.url))
    expect(await file.text()).toBe('<script>alert(1)</script>')
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': `attachment; filename="page _1_.html"; filename*=UTF-8''page%20%221%22.html`,
      'x-content-type-options': 'nosniff',
    })
  })

  it('403: for an altered link', async () => {
    const id = await receiveMail(fixture, inbox)
    const raw = await fixture.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    const url = raw.body.download_url.replace('http://public.test/v0', fixture.url)
    for (const altered of [
      `${url.slice(0, -8)}AAAAAAAA`,
      `${url}A`,
      // Other spellings of the same bytes.
      `${url}=`,
      `${url}!`,
      `${fixture.url}/files/x.y`,
      `${fixture.url}/files/x`,
    ]) {
      const answer = await fetch(altered)
      expect(answer.status).toBe(403)
      expect(await answer.json()).toMatchObject({ code: 'forbidden' })
    }
  })

  it('404: for an unknown attachment, and for a file that was deleted', async () => {
    const id = await receiveMail(fixture, inbox)
    const path = `${pathOf(id)}/attachments/${randomUUID()}`
    const missing = await fixture.call(inbox.caller, 'messages.getAttachment', 'GET', path)
    expect(missing).toMatchObject({ status: 404, body: { message: 'Attachment not found' } })
    const raw = await fixture.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    await remove(id)
    const file = await fetch(raw.body.download_url.replace('http://public.test/v0', fixture.url))
    expect(file.status).toBe(404)
  })
})
