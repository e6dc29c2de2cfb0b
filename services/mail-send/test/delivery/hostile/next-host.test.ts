import { randomUUID } from 'node:crypto'
import { queryRows, waitFor } from '@restante/testkit'
import { type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'
import { type Faults, HostileServer } from '../../support/hostile-server.ts'

let fixture: Fixture
let domains = 0
const running: HostileServer[] = []

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()))
  await fixture.stop()
})

const FINE: Faults = { at: 'RCPT', fault: 'drop', times: 0 }
const always = { times: Number.POSITIVE_INFINITY }

/** A domain with an MX host for each of these, the preferred one first. */
async function domainOf(...hosts: readonly Faults[]): Promise<{ domain: string; servers: HostileServer[] }> {
  const domain = `two-${++domains}-${randomUUID().slice(0, 8)}.example`
  const servers = await Promise.all(
    hosts.map((faults, at) => new HostileServer(faults).start(fixture.outside.port, addressOf(at))),
  )
  running.push(...servers)
  for (const at of servers.keys()) fixture.zone.set(`mx${at + 1}.${domain}`, { type: 'A', address: addressOf(at) })
  fixture.zone.set(
    domain,
    ...servers.map((_, at) => ({ type: 'MX' as const, exchange: `mx${at + 1}.${domain}`, priority: 10 * (at + 1) })),
  )
  return { domain, servers }
}

function addressOf(host: number): string {
  return `127.0.${20 + domains}.${host + 1}`
}

async function send(body: Readonly<Record<string, unknown>>): Promise<string> {
  const request = { path: '/messages/send', body: { text: 'words', ...body } }
  const answer = await fixture.call('messages.send', inboxCaller(), request)
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

/** The attempts that each recipient of a domain took. */
async function attemptsAt(domain: string): Promise<number[]> {
  const text = `select attempts from deliveries where recipient like '%@' || $1`
  const rows = await queryRows<{ attempts: number }>(fixture.db, text, domain)
  return rows.map(({ attempts }) => attempts)
}

const typesAbout = (id: string) =>
  factsAbout(fixture, id)
    .map(({ type }) => type)
    .slice(1)

describe('the next MX host of a domain', () => {
  it.each<Pick<Faults, 'at' | 'fault'>>([
    { at: 'MAIL', fault: '421 4.3.2 closing' },
    { at: 'MAIL', fault: '451 4.3.0 not now' },
    { at: 'MAIL', fault: 'drop' },
    { at: 'RCPT', fault: '452 4.3.1 no space' },
    { at: 'RCPT', fault: 'drop' },
    { at: 'DATA', fault: '451 4.3.0 later' },
    { at: 'DATA', fault: 'drop' },
  ])('gets the mail at the first attempt when the preferred host answers $at with $fault', async ({ at, fault }) => {
    const { domain, servers } = await domainOf({ at, fault, ...always }, FINE)
    const to = `ann@${domain}`
    const id = await send({ to })
    await factOf(fixture, id, 'delivery.delivered')
    expect(servers.map(({ taken }) => taken)).toEqual([[], [to]])
    expect(await attemptsAt(domain)).toEqual([1])
    expect(typesAbout(id)).toEqual(['delivery.handed_over', 'delivery.delivered'])
  })

  it.each<Faults['fault']>(['drop', '451 4.3.0 stop'])(
    'gets the mail in the middle of which its first host answers %s',
    async (fault) => {
      const { domain, servers } = await domainOf({ at: 'content', fault, times: 1 }, FINE)
      const to = `ann@${domain}`
      await factOf(fixture, await send({ to, text: 'x'.repeat(3_000_000) }), 'delivery.delivered')
      expect(servers.map(({ taken }) => taken)).toEqual([[], [to]])
      expect(await attemptsAt(domain)).toEqual([1])
    },
  )

  it('gets the mail of each recipient, after the preferred host was asked about each', async () => {
    const { domain, servers } = await domainOf({ at: 'RCPT', fault: '452 4.3.1 no space', times: 2 }, FINE)
    const to = ['ann', 'bo', 'cy'].map((name) => `${name}@${domain}`)
    const id = await send({ to })
    const delivered = () => factsAbout(fixture, id).filter(({ type }) => type === 'delivery.delivered')
    await waitFor(() => delivered().length === 3, { what: 'three deliveries' })
    expect(servers.map(({ taken }) => taken.length)).toEqual([1, 2])
    expect(await attemptsAt(domain)).toEqual([1, 1, 1])
  })

  it('gets the mail of all recipients when the preferred host hangs up at the first', async () => {
    const { domain, servers } = await domainOf({ at: 'RCPT', fault: 'drop', ...always }, FINE)
    const to = ['ann', 'bo', 'cy'].map((name) => `${name}@${domain}`)
    const id = await send({ to })
    const delivered = () => factsAbout(fixture, id).filter(({ type }) => type === 'delivery.delivered')
    await waitFor(() => delivered().length === 3, { what: 'three deliveries' })
    expect(servers[1]?.taken.toSorted()).toEqual(to)
    expect(await attemptsAt(domain)).toEqual([1, 1, 1])
  })

  it('is not tried after a permanent refusal', async () => {
    const { domain, servers } = await domainOf({ at: 'RCPT', fault: '550 5.1.1 unknown', ...always }, FINE)
    const id = await send({ to: `ann@${domain}` })
    const { payload } = await factOf(fixture, id, 'delivery.bounced')
    expect(payload).toMatchObject({ type: 'Permanent', sub_type: 'NoEmail' })
    expect(servers[1]?.taken).toEqual([])
  })

  it('decides when it refuses for good what the preferred host has deferred', async () => {
    const greylisting: Faults = { at: 'RCPT', fault: '450 4.7.1 greylisted', ...always }
    const { domain } = await domainOf(greylisting, { at: 'RCPT', fault: '550 5.7.1 relaying denied', ...always })
    const id = await send({ to: `ann@${domain}` })
    const { payload } = await factOf(fixture, id, 'delivery.bounced')
    // The host may know no recipient: nothing is said about the address.
    expect(payload).toMatchObject({ type: 'Transient', sub_type: 'ContentRejected' })
    expect(await attemptsAt(domain)).toEqual([1])
  })

  it('is not tried when the preferred host may have the mail', async () => {
    const { domain, servers } = await domainOf({ at: 'end of DATA', fault: 'drop', times: 1 }, FINE)
    const to = `ann@${domain}`
    const id = await send({ to })
    await factOf(fixture, id, 'delivery.delivered')
    expect(servers.map(({ taken }) => taken)).toEqual([[to, to], []])
    expect(await attemptsAt(domain)).toEqual([2])
  })
})

describe('MX hosts that all defer a recipient', () => {
  it('get it again at the next attempt, the preferred one first', async () => {
    const later: Faults = { at: 'RCPT', fault: '450 4.7.1 greylisted', times: 1 }
    const { domain, servers } = await domainOf(later, later)
    const to = `ann@${domain}`
    const id = await send({ to })
    await factOf(fixture, id, 'delivery.delivered')
    expect(servers.map(({ taken }) => taken)).toEqual([[to], []])
    expect(await attemptsAt(domain)).toEqual([2])
  })

  it('are at most five in one attempt', async () => {
    const later: Faults = { at: 'RCPT', fault: '450 4.7.1 greylisted', times: 1 }
    const { domain, servers } = await domainOf(...Array<Faults>(5).fill(later), FINE)
    const to = `ann@${domain}`
    await factOf(fixture, await send({ to }), 'delivery.delivered')
    expect(servers.map(({ taken }) => taken.length)).toEqual([1, 0, 0, 0, 0, 0])
    expect(await attemptsAt(domain)).toEqual([2])
  })

  it('are recorded with what they answered, not with a connection that broke', async () => {
    const full: Faults = { at: 'RCPT', fault: '452 4.2.2 mailbox full', ...always }
    const { domain } = await domainOf(full, { at: 'MAIL', fault: 'drop', ...always })
    const id = await send({ to: `ann@${domain}` })
    await factOf(fixture, id, 'delivery.delayed')
    const text = `select status from deliveries where recipient like '%@' || $1`
    expect(await queryRows(fixture.db, text, domain)).toEqual([{ status: '4.2.2' }])
  })
})
