import { readFileSync } from 'node:fs'
import path from 'node:path'
import { openBlobStore } from '@restante/blobs'
import { createDocumentReader, type DocumentReader, type DocumentReaderOptions } from '@restante/mime'
import { sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { DocumentWorker } from '../../src/attachment-texts/document-worker.ts'
import { attachmentTexts } from '../../src/attachment-texts/store.ts'
import { DownloadLinks } from '../../src/files/links.ts'
import { RawMailBytes } from '../../src/raw/bytes.ts'
import { searchable } from '../../src/search/indexing/store.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { holding, whenWaiting } from '../locks.ts'
import { pathOf, receiveMail, sentCopy } from '../mailbox-fixture.ts'
import { idsOf, searchMessages, untilIndexed } from '../search/search-fixture.ts'

const FILES = path.resolve(import.meta.dirname, '../../../../libs/mime/test/documents/fixtures')
const file = (name: string) => ({ filename: name, content: readFileSync(path.join(FILES, name)) })
const LAUNCH = 'Launch in May\nThree ports\nДва крана\n一艘船\nMention the price.\n\nCosts\nPort\tCost\nOslo\t12 000'

interface Row {
  readonly state: string
  readonly attempts: number
  readonly reason: string | null
}

let fixture: Fixture
let inbox: TestInbox
let readers: DocumentReader[] = []

// Documents are read when a test says so.
beforeAll(async () => {
  fixture = await openFixture({ DOCUMENT_WORKERS: '0' })
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})
afterEach(async () => {
  await Promise.all(readers.map((reader) => reader.close()))
  readers = []
  await queryRows(fixture.db, 'delete from attachment_texts')
})

async function workerOf(options: Partial<DocumentReaderOptions> = {}): Promise<DocumentWorker> {
  const reader = createDocumentReader({ threads: 1, ...options })
  readers.push(reader)
  const bytes = new RawMailBytes({ db: fixture.db, blobs: await openBlobStore(`directory:${fixture.blobs}`) })
  const log = createLogger({ service: 'test', level: 'silent' })
  return new DocumentWorker({ db: fixture.db, bytes, reader, threads: options.threads ?? 1, log })
}

const readAll = async () => (await workerOf()).work()
const rows = () => queryRows<Row>(fixture.db, 'select state, attempts, reason from attachment_texts order by position')
/** Makes the time pass after which a failed attempt is repeated, or a lease ends. */
const letTimePass = () => queryRows(fixture.db, 'update attachment_texts set due_at = $1', new Date(0))
const urlOf = (link: string) => link.replace('http://public.test/v0', fixture.url)

/** The answer about the first attachment of a message. */
async function attachmentOf(id: string) {
  const { body: message } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))
  const [{ attachment_id }] = message.attachments
  const place = `${pathOf(id)}/attachments/${attachment_id}`
  const { body } = await fixture.call(inbox.caller, 'messages.getAttachment', 'GET', place)
  const thread = `/threads/${message.thread_id}/attachments/${attachment_id}`
  const { body: ofThread } = await fixture.call(inbox.caller, 'threads.getAttachment', 'GET', thread)
  return { body, ofThread }
}

describe('the text of an attachment', () => {
  it('has a link as soon as it is read, which serves it as plain text for an hour', async () => {
    const id = await receiveMail(fixture, inbox, { attachments: [file('launch.pptx')] })
    const before = await attachmentOf(id)
    expect(before.body).not.toHaveProperty('text_url')
    await readAll()
    const { body, ofThread } = await attachmentOf(id)
    for (const answer of [body, ofThread]) {
      const text = await fetch(urlOf(answer.text_url))
      expect(await text.text()).toBe(LAUNCH)
      expect(Object.fromEntries(text.headers)).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'content-length': String(Buffer.byteLength(LAUNCH)),
        'content-disposition': `attachment; filename="launch.pptx.txt"; filename*=UTF-8''launch.pptx.txt`,
        'x-content-type-options': 'nosniff',
      })
      const whole = await fetch(urlOf(answer.download_url))
      expect(Buffer.from(await whole.arrayBuffer())).toEqual(file('launch.pptx').content)
    }
  })

  it('403: for a link that is altered, or of another secret', async () => {
    const id = await receiveMail(fixture, inbox, { attachments: [file('minutes.odt')] })
    await readAll()
    const { body } = await attachmentOf(id)
    const token = body.text_url.slice(body.text_url.lastIndexOf('/') + 1)
    const [claims = '', mac = ''] = token.split('.')
    const { expires, ...target } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const later = Buffer.from(JSON.stringify({ ...target, expires: expires + 9 })).toString('base64url')
    const forged = new DownloadLinks({ publicUrl: 'http://public.test', secret: 'another secret of the test' })
    const other = forged.attachment(target.message, target.attachment, true).text_url ?? ''
    for (const url of [`${fixture.url}/files/${later}.${mac}`, urlOf(other)]) {
      expect((await fetch(url)).status).toBe(403)
    }
    const links = new DownloadLinks({ publicUrl: 'http://public.test', secret: 'a secret of the test installation' })
    expect(links.open(token, expires * 1_000 - 1)).toEqual(target)
    expect(links.open(token, expires * 1_000)).toBeUndefined()
  })

  it('is looked for by the bytes of the file, in received and in sent mail', async () => {
    await receiveMail(fixture, inbox, {
      attachments: [
        { ...file('minutes.odt'), filename: 'data.bin', contentType: 'application/octet-stream' },
        { filename: 'offer.pdf', content: 'no PDF', contentType: 'application/pdf' },
        { ...file('offer.rtf'), contentType: 'image/png' },
        { filename: 'empty.docx', content: '' },
      ],
    })
    const copy = await sentCopy(fixture, inbox)
    await fixture.peer('mail-ingest.placeSent', copy)
    expect(await rows()).toHaveLength(2)
    await readAll()
    expect(await rows()).toEqual([{ state: 'read', attempts: 1, reason: null }])
  })

  it('has no link when it cannot be read, and is not tried again', async () => {
    const broken = { ...file('stock.xlsx'), content: file('stock.xlsx').content.subarray(0, 3_000) }
    const id = await receiveMail(fixture, inbox, { attachments: [file('encrypted.pdf'), broken] })
    await readAll()
    const unreadable = [
      { state: 'unreadable', attempts: 1, reason: 'encrypted' },
      { state: 'unreadable', attempts: 1, reason: 'damaged' },
    ]
    expect(await rows()).toEqual(unreadable)
    expect((await attachmentOf(id)).body).not.toHaveProperty('text_url')
    await letTimePass()
    await readAll()
    expect(await rows()).toEqual(unreadable)
  })

  it('is deleted with its message, and with its inbox', async () => {
    const [kept, deleted] = [
      await receiveMail(fixture, inbox, { attachments: [file('minutes.odt')] }),
      await receiveMail(fixture, inbox, { attachments: [file('minutes.odt')] }),
    ]
    await readAll()
    const { body } = await attachmentOf(deleted)
    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(deleted))
    expect((await fetch(urlOf(body.text_url))).status).toBe(404)
    expect(await rows()).toHaveLength(1)
    const { body: rest } = await attachmentOf(kept)
    await fixture.deleteInbox(inbox)
    await waitFor(async () => (await countRows(fixture.db, 'attachment_texts')) === 0, {
      what: 'the purge',
    })
    expect((await fetch(urlOf(rest.text_url))).status).toBe(404)
  })
})

describe('search', () => {
  it('finds a message by words of its attachments, below one whose own text matches more', async () => {
    const found = (q: string) => searchMessages(fixture, inbox, { q })
    const attached = await receiveMail(fixture, inbox, {
      subject: 'Slides',
      text: 'See the file.',
      attachments: [file('launch.pptx')],
    })
    const named = await receiveMail(fixture, inbox, { subject: 'Ports', text: 'A list.' })
    await untilIndexed(fixture)
    expect(idsOf(await found('ports'))).toEqual([named])
    await readAll()
    await untilIndexed(fixture)
    expect(idsOf(await found('ports'))).toEqual([named, attached])
    for (const q of ['oslo', 'PORT costs', 'крана', '艘船', 'mention file']) {
      expect([q, idsOf(await found(q))]).toEqual([q, [attached]])
    }
    expect((await found('oslo')).body.messages[0]).toMatchObject({
      highlights: { text: [expect.stringContaining('**Oslo**')] },
    })
    expect((await found('oslo')).body.messages[0]?.preview).toBe('See the file.')
  })

  it('is given a text only when nobody is indexing the message, so that it is not missed', async () => {
    await receiveMail(fixture, inbox, { attachments: [file('launch.pptx')] })
    await untilIndexed(fixture)
    let reading = Promise.resolve()
    await holding(fixture.db, async (tx) => {
      const indexing = sql<{ id: string }>(
        'select id from messages where id in (select message_uid from attachment_texts) for share',
      )
      const [message] = await tx.query(indexing)
      reading = readAll()
      await whenWaiting(fixture.db, tx, { query: 'for no key update', what: 'the text to wait' })
      expect(await countRows(fixture.db, 'unindexed_messages where id = $1', message?.id)).toBe(0)
      expect(await rows()).toMatchObject([{ state: 'waiting' }])
    })
    await reading
    expect(await rows()).toMatchObject([{ state: 'read' }])
  })
})

describe('a document that ends its thread', () => {
  it('is given up after two attempts, and is not tried again', async () => {
    const stopped = { threads: 1, timeoutMs: 1 }
    const id = await receiveMail(fixture, inbox, { attachments: [file('invoice.pdf')] })
    await (await workerOf(stopped)).work()
    expect(await rows()).toEqual([{ state: 'waiting', attempts: 1, reason: null }])
    await letTimePass()
    await (await workerOf(stopped)).work()
    expect(await rows()).toEqual([{ state: 'unreadable', attempts: 2, reason: 'killed' }])
    await letTimePass()
    await readAll()
    expect((await attachmentOf(id)).body).not.toHaveProperty('text_url')
  })

  it('is given up when the process died with each attempt, without another one', async () => {
    await receiveMail(fixture, inbox, { attachments: [file('invoice.pdf')] })
    for (const lease of [1, 2]) {
      const taken = await attachmentTexts.take(fixture.db, `00000000-0000-4000-8000-00000000000${lease}`, [])
      expect(taken?.attempts).toBe(lease)
      expect(await attachmentTexts.take(fixture.db, '00000000-0000-4000-8000-000000000009', [])).toBeUndefined()
      await letTimePass()
    }
    await readAll()
    expect(await rows()).toEqual([{ state: 'unreadable', attempts: 3, reason: 'killed' }])
  })

  it('is blamed for no outage: without a thread no attempt counts', async () => {
    await receiveMail(fixture, inbox, { attachments: [file('minutes.odt')] })
    const worker = await workerOf()
    await readers.at(-1)?.close()
    for (let outage = 1; outage <= 3; outage++) {
      await worker.work()
      expect(await rows()).toEqual([{ state: 'waiting', attempts: 0, reason: null }])
      await letTimePass()
    }
    await readAll()
    expect(await rows()).toMatchObject([{ state: 'read' }])
  })

  it('is found by search when it is stored while its message is being indexed', async () => {
    const id = await receiveMail(fixture, inbox, { attachments: [file('minutes.odt')] })
    await untilIndexed(fixture)
    const leased = await attachmentTexts.take(fixture.db, '00000000-0000-4000-8000-000000000001', [])
    if (!leased) throw new Error('nothing was taken')
    let saving: Promise<void> | undefined
    await holding(fixture.db, async (indexing) => {
      await queryRows(indexing, 'insert into unindexed_messages values ($1)', leased.message_uid)
      const messages = await searchable.take(indexing, 1)
      saving = fixture.db.transaction((tx) => attachmentTexts.save(tx, leased, 'harvest'))
      await whenWaiting(fixture.db, indexing, { what: 'the text to wait' })
      const entries = messages.map((message) => ({ message, subject: '', people: '', terms: [], languages: [] }))
      await searchable.write(indexing, entries)
    })
    await saving
    await untilIndexed(fixture)
    expect(idsOf(await searchMessages(fixture, inbox, { q: 'harvest' }))).toEqual([id])
  })

  it('has no effect after another process has taken it over', async () => {
    await receiveMail(fixture, inbox, { attachments: [file('minutes.odt')] })
    const slow = await attachmentTexts.take(fixture.db, '00000000-0000-4000-8000-000000000001', [])
    await letTimePass()
    await readAll()
    if (!slow) throw new Error('nothing was taken')
    await fixture.db.transaction((tx) => attachmentTexts.save(tx, slow, 'late'))
    await attachmentTexts.giveUp(fixture.db, slow, 'damaged')
    await attachmentTexts.forget(fixture.db, slow)
    const texts = await queryRows<{ text: string }>(fixture.db, 'select text from attachment_texts')
    expect(texts[0]?.text).toMatch(/^Minutes\n/)
  })
})

describe('documents', () => {
  it('are read beside one whose text cannot be stored yet, and taken beside one that is being taken', async () => {
    await receiveMail(fixture, inbox, { attachments: [file('minutes.odt')] })
    const worker = await workerOf({ threads: 2 })
    const states = async () => (await rows()).map(({ state }) => state)
    await holding(fixture.db, async (tx) => {
      await queryRows(tx, 'select from messages where id in (select message_uid from attachment_texts) for share')
      await worker.start()
      await waitFor(async () => (await rows())[0]?.attempts === 1, { what: 'the first document' })
      await receiveMail(fixture, inbox, { attachments: [file('launch.pptx'), file('offer.rtf')] })
      await waitFor(async () => (await states()).join() === 'waiting,read,read', { what: 'the others' })
    })
    await waitFor(async () => (await states()).join() === 'read,read,read', { what: 'the first one' })
    await worker.stop()
    await queryRows(fixture.db, "update attachment_texts set state = 'waiting'")
    await letTimePass()
    await fixture.db.transaction(async (tx) => {
      const first = await attachmentTexts.take(tx, '00000000-0000-4000-8000-000000000001', [])
      const second = await attachmentTexts.take(fixture.db, '00000000-0000-4000-8000-000000000002', [])
      expect(second?.attachment_id).not.toBe(first?.attachment_id)
      expect(second).toBeDefined()
    })
  })
})

describe('documents of several organizations', () => {
  it('are read in turns, whoever has the most', async () => {
    for (let mail = 0; mail < 3; mail++) await receiveMail(fixture, inbox, { attachments: [file('minutes.odt')] })
    const [first] = await queryRows<{ message_uid: string }>(
      fixture.db,
      'select message_uid from attachment_texts limit 1',
    )
    const other = '00000000-0000-4000-8000-0000000000aa'
    await queryRows(
      fixture.db,
      'insert into attachment_texts (message_uid, attachment_id, organization_id) values ($1, gen_random_uuid(), $2)',
      ...[first?.message_uid, other],
    )
    const owners: string[] = []
    for (let turn = 1; turn <= 4; turn++) {
      const lease = `00000000-0000-4000-8000-00000000000${turn}`
      const taken = await attachmentTexts.take(fixture.db, lease, owners.slice(-1))
      owners.push(taken?.organization_id ?? '')
    }
    const own = inbox.organization_id
    expect(owners).toEqual([own, other, own, own])
  })
})
