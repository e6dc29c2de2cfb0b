import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import type { InternalRequestOf } from '@restante/contracts/internal'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251))

async function received() {
  const id = await receiveMail(fixture, inbox, {
    attachments: [
      { filename: 'a.bin', content: bytes },
      { filename: 'b.txt', content: 'text', cid: 'two@x', contentDisposition: 'inline' },
    ],
  })
  const { body } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))
  const [first, second] = body.attachments as { attachment_id: string }[]
  return { id, first: first?.attachment_id ?? '', second: second?.attachment_id ?? '' }
}

const newBlob = () => `files/${randomUUID()}`

function copy(source: InternalRequestOf<'mail-ingest.copyFiles'>['source'], max_bytes = 1_000_000) {
  return fixture.peer('mail-ingest.copyFiles', { source, max_bytes })
}

it('copies decoded attachments, and says what the message says of them', async () => {
  const { id, first, second } = await received()
  const [one, two] = [newBlob(), newBlob()]
  const attachments = [
    { attachment_id: second, blob: two },
    { attachment_id: first, blob: one },
  ]
  const { inbox_uid } = inbox
  expect(await copy({ inbox_uid, message_id: id, visible_labels: [], attachments })).toEqual({
    files: [
      expect.objectContaining({ filename: 'b.txt', content_type: 'text/plain', content_id: 'two@x', size: 4 }),
      expect.objectContaining({ filename: 'a.bin', size: bytes.length, sha256: expect.any(String) }),
    ],
  })
  const blobs = await openBlobStore(fixture.config.blobStore)
  expect(await blobs.buffer(one)).toEqual(bytes)
  expect(String(await blobs.buffer(two))).toBe('text')
})

it('copies what a download link leads to, and nothing by another link', async () => {
  const { id, first } = await received()
  const path = `${pathOf(id)}/attachments/${first}`
  const { body } = await fixture.call(inbox.caller, 'messages.getAttachment', 'GET', path)
  const link = String(body.download_url).split('/').at(-1) ?? ''
  const blob = newBlob()
  expect(await copy({ link, blob })).toMatchObject({ files: [{ filename: 'a.bin', size: bytes.length }] })
  expect(await copy({ link: `${link}x`, blob })).toEqual({ refused: 'no_link' })
  await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(id))
  expect(await copy({ link, blob })).toEqual({ refused: 'no_link' })
})

it('refuses what is unknown, hidden or too large', async () => {
  const { id, first } = await received()
  const attachments = [{ attachment_id: first, blob: newBlob() }]
  const source = { inbox_uid: inbox.inbox_uid, message_id: id, visible_labels: [], attachments }
  expect(await copy({ ...source, inbox_uid: randomUUID() })).toEqual({ refused: 'no_message' })
  expect(await copy({ ...source, attachments: [{ attachment_id: 'none', blob: newBlob() }] })).toEqual({
    refused: 'no_attachment',
  })
  expect(await copy(source, bytes.length - 1)).toEqual({ refused: 'too_large' })
  await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), { add_labels: ['trash'] })
  expect(await copy(source)).toEqual({ refused: 'no_message' })
  expect(await copy({ ...source, visible_labels: ['trash'] })).toHaveProperty('files')
})
