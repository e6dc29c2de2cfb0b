import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import type { SentCopy } from '@restante/contracts/schemas'
import { composeBounceNotice } from '@restante/mime'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, sentCopy, untilProcessed } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox
let copy: SentCopy

beforeAll(async () => {
  fixture = await openFixture({ FEEDBACK_COPIES: 'true' })
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
  copy = await sentCopy(fixture, inbox)
  await fixture.peer('mail-ingest.placeSent', copy)
})

/** A notice about the sent message, as mail-send hands it over. */
async function notice() {
  const id = randomUUID()
  const raw = await composeBounceNotice({
    from: 'mailer-daemon@restante.test',
    to: inbox.address,
    messageId: `<${id}@restante.test>`,
    date: new Date(),
    reportingMta: 'mail.restante.test',
    original: { messageId: copy.message_id, acceptedAt: new Date(), header: undefined },
    recipient: 'ann@outside.example',
    status: '5.1.1',
    diagnostic: '550 no such user',
    remoteMta: undefined,
    attemptedAt: new Date(),
  })
  const blobs = await openBlobStore(`directory:${fixture.blobs}`)
  const name = `outbound/${id}`
  const blob = { name, ...(await blobs.put(name, raw)) }
  const { organization_id, pod_id, inbox_uid, address: recipient } = inbox
  return { delivery_id: id, organization_id, pod_id, inbox_uid, recipient, message_id: copy.message_id, blob }
}

async function received() {
  const { body } = await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages?labels=received')
  return body.messages
}

describe('a notice of a failed delivery', () => {
  it('is received once, in the thread of its message, and from nobody', async () => {
    const given = await notice()
    for (let time = 0; time < 2; time++) {
      expect(await fixture.peer('mail-ingest.acceptNotice', given)).toEqual({ outcome: 'accepted' })
    }
    await untilProcessed(fixture)
    const messages = await received()
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatchObject({ thread_id: copy.thread_id, labels: ['received', 'unread'] })
    const { body } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(messages[0].message_id))
    expect(body.headers['Return-Path']).toBe('<>')
    expect(body.text).toContain('could not be delivered to ann@outside.example')
  })

  it('is not stored when the message is not there', async () => {
    const given = { ...(await notice()), message_id: '<another@restante.test>' }
    expect(await fixture.peer('mail-ingest.acceptNotice', given)).toEqual({ outcome: 'no_message' })
    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(copy.message_id))
    expect(await fixture.peer('mail-ingest.acceptNotice', await notice())).toEqual({ outcome: 'no_message' })
    await untilProcessed(fixture)
    expect(await received()).toEqual([])
  })

  it('is not stored in a paused or deleted inbox', async () => {
    await fixture.setStatus(inbox, 'paused')
    expect(await fixture.peer('mail-ingest.acceptNotice', await notice())).toEqual({ outcome: 'paused' })
    await fixture.deleteInbox(inbox)
    // As long as the inbox is not purged, its message is still there.
    const { outcome } = await fixture.peer('mail-ingest.acceptNotice', await notice())
    expect(['unknown', 'no_message']).toContain(outcome)
  })

  it('is not wanted where copies are switched off', async () => {
    const other = await openFixture({ FEEDBACK_COPIES: 'false' })
    try {
      const { organization_id, pod_id, inbox_uid, address: recipient } = await other.inbox()
      const blob = { name: 'outbound/none', size: 1, sha256: '' }
      const request = {
        delivery_id: randomUUID(),
        organization_id,
        pod_id,
        inbox_uid,
        recipient,
        message_id: '<m@x>',
        blob,
      }
      expect(await other.peer('mail-ingest.acceptNotice', request)).toEqual({ outcome: 'unwanted' })
    } finally {
      await other.stop()
    }
  })
})
