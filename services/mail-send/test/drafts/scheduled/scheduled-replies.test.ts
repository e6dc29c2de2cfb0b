import { randomUUID } from 'node:crypto'
import { waitFor } from '@restante/testkit'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../../support/fixture.ts'
import { holdMessage, sourceOf } from '../../support/sources.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
})
afterAll(() => fixture.stop())

/** A caller, and a message that its inbox sent by `bcc` only, so that a reply to it has no recipients. */
function author(): { caller: SendingCaller; messageId: string } {
  const caller = inboxCaller()
  const { address } = caller.inbox
  const changes = { sent: true, from: address, author: address, to: [], cc: [] }
  const source = holdMessage(fixture, sourceOf(caller, changes))
  const { organization_id, inbox, sending, unverified, take_overs = 0 } = caller
  fixture.peers.answers['gateway.getSendingInbox'] = async () => ({
    sender: { organization_id, inbox, sending, unverified, take_overs },
  })
  return { caller, messageId: source.message_id }
}

function create(caller: SendingCaller, body: Readonly<Record<string, unknown>>): Promise<Answer> {
  return fixture.call('drafts.create', caller, { path: '/drafts', body })
}

function update(caller: SendingCaller, id: unknown, body: unknown): Promise<Answer> {
  return fixture.call('drafts.update', caller, { method: 'PATCH', path: `/drafts/${id}`, body })
}

function soon(ms: number): string {
  return new Date(Date.now() + ms).toISOString()
}

describe('a scheduled reply draft', () => {
  it('without a recipient can be changed, and fails when it is due', async () => {
    const { caller, messageId } = author()
    const { status, body } = await create(caller, { in_reply_to: messageId, send_at: soon(3_600_000) })
    expect({ status, body }).toMatchObject({ status: 200, body: { send_status: 'scheduled' } })
    expect(body).not.toHaveProperty('to')
    expect(await update(caller, body.draft_id, { text: 'x' })).toMatchObject({
      status: 200,
      body: { text: 'x', send_status: 'scheduled' },
    })
    expect((await update(caller, body.draft_id, { send_at: soon(0) })).status).toBe(200)
    const get = () => fixture.call('drafts.get', caller, { method: 'GET', path: `/drafts/${body.draft_id}` })
    await waitFor(async () => (await get()).body.send_status === 'failed', { what: 'the failure' })
  })

  it('may lose its last recipient, and be scheduled without one', async () => {
    const { caller, messageId } = author()
    const given = { in_reply_to: messageId, to: 'ann@outside.example' }
    const scheduled = await create(caller, { ...given, send_at: soon(3_600_000) })
    expect(await update(caller, scheduled.body.draft_id, { to: [] })).toMatchObject({
      status: 200,
      body: { send_status: 'scheduled' },
    })
    const plain = await create(caller, given)
    expect(await update(caller, plain.body.draft_id, { to: null, send_at: soon(3_600_000) })).toMatchObject({
      status: 200,
      body: { send_status: 'scheduled' },
    })
  })
})

describe('a forward draft', () => {
  it('keeps its last recipient while it is scheduled, and is not scheduled without one', async () => {
    const { caller, messageId } = author()
    const forward = { forward_of: messageId, to: 'ann@outside.example', send_at: soon(3_600_000) }
    const { body } = await create(caller, forward)
    expect(await update(caller, body.draft_id, { to: [] })).toMatchObject({
      status: 400,
      body: { errors: [{ path: ['to'] }] },
    })
    const plain = await create(caller, { forward_of: messageId })
    expect(await update(caller, plain.body.draft_id, { send_at: soon(3_600_000) })).toMatchObject({
      status: 400,
      body: { errors: [{ path: ['send_at'] }] },
    })
  })
})

describe.each(['in_reply_to', 'forward_of'])('a draft with %s', (member) => {
  it('goes out without a subject once its subject was cleared', async () => {
    const { caller, messageId } = author()
    fixture.peers.answers['mail-ingest.placeSent'] = async () => ({})
    const to = `ann-${randomUUID().slice(0, 8)}@outside.example`
    const { body } = await create(caller, { [member]: messageId, to, text: 'words' })
    expect(body.subject).toMatch(/^(Re|Fwd): /)
    expect((await update(caller, body.draft_id, { subject: null })).body).not.toHaveProperty('subject')
    const sent = await fixture.call('drafts.send', caller, { path: `/drafts/${body.draft_id}/send`, body: {} })
    expect(sent.status).toBe(200)
    expect((await fixture.outside.next(to)).parsed.subject).toBeUndefined()
  })
})
