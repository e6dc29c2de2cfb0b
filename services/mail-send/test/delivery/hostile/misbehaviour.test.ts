import { randomUUID } from 'node:crypto'
import { byLength, countRows, leastOf, waitFor } from '@restante/testkit'
import { age, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'
import { type Fault, type Faults, HostileServer, type Moment } from '../../support/hostile-server.ts'

/** Gives up no server that answers, however late the machine lets it. */
let patient: Fixture
/** Gives up a server that is silent, soon. */
let hasty: Fixture
let servers = 0
const running: HostileServer[] = []

beforeAll(async () => {
  const soon = { DELIVERY_ANSWER_TIMEOUT: '2s', DELIVERY_CONNECT_TIMEOUT: '2s' }
  ;[patient, hasty] = await Promise.all([startWorld(), startWorld(soon)])
  for (const { peers } of [patient, hasty]) peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()))
  await Promise.all([patient.stop(), hasty.stop()])
})

const worldFor = (fault: Fault): Fixture => (fault === 'hang' ? hasty : patient)

/**
 * How often a server had a mail. Where silence is given up soon, a server that answers is given up, too, when the machine
 * stands still: of several tries the least counts.
 */
const timesTaken = (fault: Fault, expected: number, attempt: () => Promise<number>): Promise<number> =>
  fault === 'hang' ? leastOf(expected + 1, attempt) : attempt()

/** An address whose MX host is a server that fails, in the world for its fault. */
async function hostile(faults: Faults): Promise<{ to: string; server: HostileServer; world: Fixture }> {
  const world = worldFor(faults.fault)
  const address = `127.0.8.${++servers}`
  const domain = `hostile-${servers}-${randomUUID().slice(0, 8)}.example`
  const server = await new HostileServer(faults).start(world.outside.port, address)
  running.push(server)
  world.zone
    .set(`mx.${domain}`, { type: 'A', address })
    .set(domain, { type: 'MX', exchange: `mx.${domain}`, priority: 1 })
  return { to: `ann@${domain}`, server, world }
}

async function send(world: Fixture, to: string, caller = inboxCaller()): Promise<string> {
  const answer = await world.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'words' } })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

const typesAbout = (world: Fixture, id: string) =>
  factsAbout(world, id)
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

/** The short run has every second one, of which the others are variants. */
const TRIED = byLength({ short: FAULTS.filter((_, at) => at % 2 === 0), long: FAULTS })

describe('a server that fails three times and then behaves', () => {
  it('gets the mail, under one delivery, whatever its failure', async () => {
    const outcomes = TRIED.map(async ([at, fault]) => {
      // Whether it took a mail to which it gave no answer cannot be known: it gets it again.
      const expected = at === 'end of DATA' ? 4 : 1
      const taken = await timesTaken(fault, expected, async () => {
        const { to, server, world } = await hostile({ at, fault, times: 3 })
        const id = await send(world, to)
        await waitFor(() => typesAbout(world, id).includes('delivery.delivered'), { what: `${at} ${fault}` })
        const { payload } = await factOf(world, id, 'delivery.delivered')
        const events = ['delivery.delayed', 'delivery.delivered', 'delivery.handed_over']
        const seen = { at, fault, events: typesAbout(world, id).sort(), to: payload['recipients'] }
        expect(seen).toEqual({ at, fault, events, to: [to] })
        return server.taken.length
      })
      expect({ at, fault, taken }).toEqual({ at, fault, taken: expected })
    })
    await Promise.all(outcomes)
  })
})

describe('a server that fails for good', () => {
  it('leads to a bounce that is not the fault of the address, whatever its failure', async () => {
    const outcomes = TRIED.map(async ([at, fault, answered]) => {
      const caller = inboxCaller()
      const { to, world } = await hostile({ at, fault, times: Number.POSITIVE_INFINITY })
      const id = await send(world, to, caller)
      await waitFor(() => typesAbout(world, id).includes('delivery.delayed'), { what: `delay: ${at} ${fault}` })
      await age(world, id)
      await waitFor(() => typesAbout(world, id).includes('delivery.bounced'), { what: `bounce: ${at} ${fault}` })
      const { payload } = await factOf(world, id, 'delivery.bounced')
      const { type, sub_type, recipients } = payload
      const entries = await countRows(world.db, 'list_entries where organization_id = $1', caller.organization_id)
      const events = ['delivery.bounced', 'delivery.delayed', ...(answered ? ['delivery.handed_over'] : [])]
      expect({ at, fault, type, sub_type, recipients, entries, events: typesAbout(world, id).sort() }).toEqual({
        at,
        fault,
        type: 'Transient',
        sub_type: 'General',
        recipients: [to],
        entries: 0,
        events,
      })
      await send(world, to, caller)
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
    const { to, world } = await hostile({ at: 'MAIL', fault, times: Number.POSITIVE_INFINITY })
    for (let messages = 0; messages < 2; messages++) {
      const { payload } = await factOf(world, await send(world, to, caller), 'delivery.bounced')
      expect(payload).toMatchObject({ type: 'Transient', sub_type, recipients: [to] })
    }
    expect(await countRows(world.db, 'list_entries where organization_id = $1', caller.organization_id)).toBe(0)
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
    const taken = await timesTaken(fault, 1, async () => {
      const { to, server, world } = await hostile({ at: 'STARTTLS', fault, times: Number.POSITIVE_INFINITY })
      const id = await send(world, to)
      await factOf(world, id, 'delivery.delivered')
      expect(new Set(server.taken)).toEqual(new Set([to]))
      expect(typesAbout(world, id)).toEqual(['delivery.handed_over', 'delivery.delivered'])
      return server.taken.length
    })
    expect(taken).toBe(1)
  })
})
