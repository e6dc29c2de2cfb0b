import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { readReport } from '@restante/mime'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { noticeIdOf } from '../../src/notices/bounce-notices.ts'
import { DOMAIN, type Fixture, factOf, inboxCaller, startWorld } from '../support/fixture.ts'

type Notice = InternalRequestOf<'mail-ingest.acceptNotice'>
type Outcome = InternalResponseOf<'mail-ingest.acceptNotice'>['outcome']

let fixture: Fixture
/** Notices that the mailbox was given, with their bytes at that moment. */
let notices: (Notice & { readonly raw: Buffer })[]
/** What the mailbox answers next; then `accepted`. A number is an error status. */
let outcomes: (Outcome | number)[]
let addresses: Map<string, string>

beforeAll(async () => {
  fixture = await startWorld({ RETRY_FOR: '1s' })
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  const blobs = await openBlobStore(fixture.config.blobStore)
  notices = []
  outcomes = []
  addresses = new Map()
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'gateway.lookupInboxes': async ({ inboxes }) => ({
      inboxes: inboxes.flatMap((uid) => {
        const address = addresses.get(uid)
        return address === undefined ? [] : [{ given: uid, inbox_uid: uid, pod_id: randomUUID(), address }]
      }),
      pods: [],
    }),
    'mail-ingest.acceptNotice': async (notice) => {
      notices.push({ ...notice, raw: await blobs.buffer(notice.blob.name) })
      const next = outcomes.shift() ?? 'accepted'
      return typeof next === 'number' ? next : { outcome: next }
    },
  }
})

const someone = () => `ann-${randomUUID().slice(0, 8)}@outside.example`

async function send(to: string | string[], { isDeleted = false } = {}) {
  const caller = inboxCaller()
  if (!isDeleted) addresses.set(caller.inbox.uid, caller.inbox.address)
  const body = { to, subject: 'An offer', text: 'hello' }
  const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body })
  expect(answer.status).toBe(200)
  return { caller, messageId: String(answer.body['message_id']) }
}
const timers = () => countRows(fixture.db, `timers where kind = 'bounce-notice'`)
const noneLeft = () => waitFor(async () => (await timers()) === 0, { what: 'the notices to be settled' })

describe('a refused mail', () => {
  it('puts one notice per recipient into the inbox that sent it, and leaves nothing behind', async () => {
    const [ann, bob, carl] = [someone(), someone(), someone()]
    fixture.outside.answerRecipient(ann, '550 5.1.1 no such user')
    fixture.outside.answerData(bob, '554 5.7.1 looks like spam')
    const { caller, messageId } = await send([ann, bob, carl])
    await waitFor(() => notices.length === 2, { what: 'two notices' })
    await noneLeft()
    expect(notices).toHaveLength(2)
    const { organization_id, inbox } = caller
    for (const notice of notices) {
      expect(notice).toMatchObject({
        organization_id,
        inbox_uid: inbox.uid,
        recipient: inbox.address,
        message_id: messageId,
      })
      expect(notice.raw.toString()).toContain(`From: Mail Delivery System <mailer-daemon@${DOMAIN}>\r\n`)
      expect(notice.raw.toString()).toContain('Subject: An offer')
      expect(await countRows(fixture.db, 'pending_blobs where send_id = $1', notice.delivery_id)).toBe(0)
    }
    const reports = notices.map(({ raw }) => readReport(raw))
    expect(reports).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ recipients: [expect.objectContaining({ recipient: ann, status: '5.1.1' })] }),
        expect.objectContaining({ recipients: [expect.objectContaining({ recipient: bob, status: '5.7.1' })] }),
      ]),
    )
    const blobs = await openBlobStore(fixture.config.blobStore)
    for (const { blob } of notices) await expect(blobs.buffer(blob.name)).rejects.toThrow()
    expect(await countRows(fixture.db, 'deliveries where recipient = $1', inbox.address)).toBe(0)
  })

  it('does so when its retries are used up, with the last answer', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, ...Array.from({ length: 50 }, () => '452 4.2.2 mailbox full' as const))
    await send(to)
    await waitFor(() => notices.length === 1, { what: 'the notice' })
    expect(notices[0]?.raw.toString()).toContain('Diagnostic-Code: smtp; 452 4.2.2 mailbox full')
  })

  it('hands the same notice over again after a failure or a restart', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, '550 5.1.1 no such user')
    outcomes = [503, 503]
    await send(to)
    await waitFor(() => notices.length > 0, { what: 'the first attempt' })
    await fixture.restart()
    await waitFor(() => notices.length >= 3, { what: 'the third attempt' })
    await noneLeft()
    const [row] = await queryRows<{ id: string }>(fixture.db, 'select id from deliveries where recipient = $1', to)
    expect(new Set(notices.map(({ delivery_id }) => delivery_id))).toEqual(new Set([noticeIdOf(row?.id ?? '')]))
  })

  it.each(['unwanted', 'paused', 'full', 'limited', 'unknown'] as const)(
    'is over when the answer is %s',
    async (outcome) => {
      const to = someone()
      fixture.outside.answerRecipient(to, '550 5.1.1 no such user')
      outcomes = [outcome]
      await send(to)
      await waitFor(() => notices.length === 1, { what: 'the notice' })
      await noneLeft()
      expect(notices).toHaveLength(1)
    },
  )

  it('waits for the copy of its message, and not for ever', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, '550 5.1.1 no such user')
    outcomes = Array(1_000).fill('no_message')
    const { messageId } = await send(to)
    await waitFor(() => notices.length > 0, { what: 'the notice' })
    await queryRows(
      fixture.db,
      `update sends set accepted_at = now() - interval '1 hour' where message_id = $1 returning 1`,
      messageId,
    )
    await noneLeft()
    expect(notices.length).toBeGreaterThan(1)
  })

  it('makes none for a deleted inbox', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, '550 5.1.1 no such user')
    const { messageId } = await send(to, { isDeleted: true })
    await factOf(fixture, messageId, 'delivery.bounced')
    await noneLeft()
    expect(notices).toEqual([])
  })
})

describe('a refused mail of the installation itself', () => {
  it('makes no notice', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, '550 5.1.1 no such user')
    const mail = { id: randomUUID(), to, subject: 'Your code', text: 'It is 123456.' }
    await fixture.internal('mail-send.sendSystemMail', 'gateway', mail)
    const refused = () => countRows(fixture.db, `deliveries where recipient = $1 and state = 'bounced'`, to)
    await waitFor(async () => (await refused()) === 1, { what: 'the refusal' })
    expect(await timers()).toBe(0)
    expect(notices).toEqual([])
  })
})
