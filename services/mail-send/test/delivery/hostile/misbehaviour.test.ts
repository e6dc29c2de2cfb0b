import { randomUUID } from 'node:crypto'
import { byLength, countRows, waitFor } from '@restante/testkit'
import { age, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'
import { type Fault, type Faults, HostileServer, type Moment } from '../../support/hostile-server.ts'

let fixture: Fixture
let servers = 0
const running: HostileServer[] = []

beforeAll(async () => {
  fixture = await startWorld({ DELIVERY_ANSWER_TIMEOUT: '2s', DELIVERY_CONNECT_TIMEOUT: '2s' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()))
  await fixture.stop()
})

/** An address whose MX host is a server that fails. */
async function hostile(faults: Faults): Promise<{ to: string; server: HostileServer }> {
  const address = `127.0.8.${++servers}`
  const domain = `hostile-${servers}-${randomUUID().slice(0, 8)}.example`
  const server = await new HostileServer(faults).start(fixture.outside.port, address)
  running.push(server)
  fixture.zone
    .set(`mx.${domain}`, { type: 'A', address })
    .set(domain, { type: 'MX', exchange: `mx.${domain}`, priority: 1 })
  return { to: `ann@${domain}`, server }
}

async function send(to: string | string[], caller = inboxCaller()): Promise<string> {
  const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'words' } })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

const typesAbout = (id: string) =>
  factsAbout(fixture, id)
    .map(({ type }) => type)
    .slice(1)

/** What a server does, and whether it answered before, so that the message counts as sent. */
const FAULTS: readonly (readonly [Moment, Fault, answered: boolean])[] = [
  ['greeting', 'hang', false],
  ['greeting', 'drop', false],
  ['greeting', '421 4.3.2 too busy', true],
  ['greeting', '554 5.7.1 no service', true],
  ['EHLO', 'hang', false],
  ['EHLO', 'drop', false],
  ['EHLO', '421 4.3.2 too busy', true],
  ['MAIL', 'hang', true],
  ['MAIL', 'drop', true],
  ['MAIL', '421 4.7.0 too much', true],
  ['RCPT', 'hang', true],
  ['RCPT', 'drop', true],
  ['RCPT', '421 4.7.0 too much', true],
  ['RCPT', '450 4.7.1 greylisted', true],
  ['DATA', 'drop', true],
  ['DATA', '451 4.3.0 later', true],
  ['end of DATA', 'hang', true],
  ['end of DATA', 'drop', true],
  ['end of DATA', '421 4.3.0 closing', true],
  ['end of DATA', '451 4.7.1 later', true],
]

const WAIT = { timeout: 60_000 }

/** The short run has every second one, of which the others are variants. */
const TRIED = byLength({ short: FAULTS.filter((_, at) => at % 2 === 0), long: FAULTS })

describe('a server that fails three times and then behaves', () => {
  it('gets the mail, under one delivery, whatever its failure', async () => {
    const outcomes = TRIED.map(async ([at, fault]) => {
      const { to, server } = await hostile({ at, fault, times: 3 })
      const id = await send(to)
      await waitFor(() => typesAbout(id).includes('delivery.delivered'), { what: `${at} ${fault}`, ...WAIT })
      const { payload } = await factOf(fixture, id, 'delivery.delivered')
      const seen = { at, fault, events: typesAbout(id).sort(), to: payload['recipients'], taken: server.taken.length }
      // Whether it took a mail to which it gave no answer cannot be known: it gets it again.
      const taken = at === 'end of DATA' ? 4 : 1
      const events = ['delivery.delayed', 'delivery.delivered', 'delivery.handed_over']
      expect(seen).toEqual({ at, fault, events, to: [to], taken })
    })
    await Promise.all(outcomes)
  })
})

describe('a server that fails for good', () => {
  it('leads to a bounce that is not the fault of the address, whatever its failure', async () => {
    const outcomes = TRIED.map(async ([at, fault, answered]) => {
      const caller = inboxCaller()
      const { to } = await hostile({ at, fault, times: Number.POSITIVE_INFINITY })
      const id = await send(to, caller)
      await waitFor(() => typesAbout(id).includes('delivery.delayed'), { what: `delay: ${at} ${fault}`, ...WAIT })
      await age(fixture, id)
      await waitFor(() => typesAbout(id).includes('delivery.bounced'), { what: `bounce: ${at} ${fault}`, ...WAIT })
      const { payload } = await factOf(fixture, id, 'delivery.bounced')
      const { type, sub_type, recipients } = payload
      const entries = await countRows(fixture.db, 'list_entries where organization_id = $1', caller.organization_id)
      const events = ['delivery.bounced', 'delivery.delayed', ...(answered ? ['delivery.handed_over'] : [])]
      expect({ at, fault, type, sub_type, recipients, entries, events: typesAbout(id).sort() }).toEqual({
        at,
        fault,
        type: 'Transient',
        sub_type: 'General',
        recipients: [to],
        entries: 0,
        events,
      })
      await send(to, caller)
    })
    await Promise.all(outcomes)
  })
})

describe('a server that refuses the sender', () => {
  it.each<[reply: Fault, subType: string]>([
    ['550 Access denied', 'ContentRejected'],
    ['550 5.1.1 User unknown', 'ContentRejected'],
    ['550 5.1.0 Address rejected', 'ContentRejected'],
    ['553 5.1.8 Domain not found', 'ContentRejected'],
    ['552 5.3.4 Too large', 'MessageTooLarge'],
  ])('with %s, before it knows the recipient, does not suppress that recipient', async (fault, sub_type) => {
    const caller = inboxCaller()
    const { to } = await hostile({ at: 'MAIL', fault, times: Number.POSITIVE_INFINITY })
    for (let messages = 0; messages < 2; messages++) {
      const { payload } = await factOf(fixture, await send(to, caller), 'delivery.bounced')
      expect(payload).toMatchObject({ type: 'Transient', sub_type, recipients: [to] })
    }
    expect(await countRows(fixture.db, 'list_entries where organization_id = $1', caller.organization_id)).toBe(0)
  })
})

describe('a server whose TLS is broken', () => {
  it.each<[what: string, Fault]>([
    ['refuses STARTTLS', '454 4.7.0 not available'],
    ['refuses STARTTLS for good', '501 5.5.4 no'],
    ['says nothing after STARTTLS', 'hang'],
    ['hangs up after STARTTLS', 'drop'],
    ['talks no TLS after STARTTLS', '220 2.0.0 go ahead'],
  ])('and that %s gets the mail unencrypted', async (_what, fault) => {
    const { to, server } = await hostile({ at: 'STARTTLS', fault, times: Number.POSITIVE_INFINITY })
    const id = await send(to)
    await factOf(fixture, id, 'delivery.delivered')
    expect(server.taken).toEqual([to])
    expect(typesAbout(id)).toEqual(['delivery.handed_over', 'delivery.delivered'])
  })
})
