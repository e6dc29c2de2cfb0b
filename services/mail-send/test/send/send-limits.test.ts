import { randomUUID } from 'node:crypto'
import { countRows } from '@restante/testkit'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld({
    SEND_LIMIT_ORGANIZATION: '12/30d',
    SEND_LIMIT_POD: '9/d',
    SEND_LIMIT_INBOX: '5/d,100/6h',
  })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
}, 60_000)
afterAll(() => fixture.stop(), 30_000)

function send(caller: SendingCaller, recipients: number): Promise<Answer> {
  const to = Array.from({ length: recipients }, () => `ann-${randomUUID()}@outside.example`)
  return fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'x' } })
}

/** Another inbox of the same organization. */
function sibling(caller: SendingCaller, pod_id = caller.inbox.pod_id): SendingCaller {
  return { ...caller, inbox: { ...inboxCaller().inbox, pod_id } }
}

describe('send limits', () => {
  it('count each recipient, for the inbox, its pod and its organization', async () => {
    const first = inboxCaller()
    expect((await send(first, 5)).status).toBe(200)
    expect(await send(first, 1)).toMatchObject({
      status: 429,
      body: { code: 'rate_limit_exceeded', resource: 'recipients', limit: 5, window: 'day' },
    })
    const second = sibling(first)
    expect((await send(second, 4)).status).toBe(200)
    expect((await send(second, 1)).body.message).toBe('Send limit exceeded: 9 recipients per day for one pod')
    const elsewhere = sibling(first, randomUUID())
    expect((await send(elsewhere, 4)).body.message).toContain('12 recipients per 30 days for one organization')
    expect((await send(elsewhere, 3)).status).toBe(200)
    const { organization_id: organizationId } = first
    expect(await countRows(fixture.db, 'sends where organization_id = $1', organizationId)).toBe(3)
  })

  it('hold for sends at the same time, of one inbox and of several', async () => {
    const first = inboxCaller()
    const callers = [first, sibling(first), sibling(first, randomUUID())]
    const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => send(callers[at % 3] ?? first, 1)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(12)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(48)
  })

  it('count nothing for a refused message', async () => {
    const caller = inboxCaller()
    expect((await send(caller, 6)).status).toBe(429)
    expect((await send(caller, 51)).status).toBe(400)
    expect((await send(caller, 5)).status).toBe(200)
  })
})
