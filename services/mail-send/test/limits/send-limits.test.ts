import { randomUUID } from 'node:crypto'
import { countRows, lastingPeriod } from '@restante/testkit'
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
})
afterAll(() => fixture.stop())

function send(caller: SendingCaller, recipients: number): Promise<Answer> {
  const to = Array.from({ length: recipients }, () => `ann-${randomUUID()}@outside.example`)
  return fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'x' } })
}

/** Another inbox of the same organization. */
function sibling(caller: SendingCaller, pod_id = caller.inbox.pod_id): SendingCaller {
  return { ...caller, inbox: { ...inboxCaller().inbox, pod_id } }
}

describe('send limits', () => {
  beforeEach(() => lastingPeriod(3_600_000))

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

  it('refuse a message without an effect on others that are accepted at the same time', async () => {
    const limited = inboxCaller()
    const others = Array.from({ length: 20 }, () => inboxCaller())
    const sends = others.flatMap((other) => [send(limited, 1), send(other, 1)])
    const answers = await Promise.all(sends)
    const ofOthers = answers.filter((_, at) => at % 2 === 1)
    expect(ofOthers.map(({ status }) => status)).toEqual(others.map(() => 200))
    expect(answers.filter((answer, at) => at % 2 === 0 && answer.status === 200)).toHaveLength(5)
    const { organization_id: organizationId } = limited
    expect(await countRows(fixture.db, 'sends where organization_id = $1', organizationId)).toBe(5)
  })

  it('count nothing for a refused message', async () => {
    const caller = inboxCaller()
    expect((await send(caller, 6)).status).toBe(429)
    expect((await send(caller, 51)).status).toBe(400)
    expect((await send(caller, 5)).status).toBe(200)
  })

  it('are those that the operator has set for the organization, in place of the installation’s', async () => {
    const day = 24 * 3_600
    const caller = inboxCaller({
      send_limits: { organization: [{ recipients: 7, window_seconds: day }], inbox: [] },
    })
    expect((await send(caller, 6)).status).toBe(200)
    expect((await send(caller, 2)).body.message).toBe('Send limit exceeded: 7 recipients per day for one organization')
    const wide = { ...caller, send_limits: { organization: [], inbox: [] } }
    expect((await send(wide, 4)).body.message).toBe('Send limit exceeded: 9 recipients per day for one pod')
    expect((await send({ ...wide, send_limits: { ...wide.send_limits, pod: [] } }, 20)).status).toBe(200)
  })

  it('leave the limit of an organization whose human is not verified, whatever the operator has set', async () => {
    const human = 'human@outside.example'
    const caller = inboxCaller({
      unverified: true,
      sending: `only:${human}`,
      send_limits: { organization: [], pod: [], inbox: [] },
    })
    const mail = () =>
      fixture.call('messages.send', caller, { path: '/messages/send', body: { to: [human], text: 'x' } })
    const answers = []
    for (let at = 0; at < 11; at++) answers.push((await mail()).status)
    expect(answers).toEqual([...Array(10).fill(200), 429])
  })

  it('hold for sends with different limits at the same time, without a deadlock', async () => {
    const [hour, day] = [3_600, 24 * 3_600].map((window_seconds) => ({ recipients: 10, window_seconds }))
    const first = inboxCaller()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => {
        const list = [hour, day].flatMap((limit) => limit ?? [])
        const own = at % 2 === 0 ? list : list.toReversed()
        return send({ ...first, send_limits: { organization: own, pod: own, inbox: own } }, 1)
      }),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30)
  })
})
