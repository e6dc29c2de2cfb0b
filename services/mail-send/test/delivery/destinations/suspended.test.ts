import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { age, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'

/** Nothing listens there at first. */
const DEAD = '127.0.9.240'
const HELD = 8
let fixture: Fixture

beforeAll(async () => {
  // An attempt that fails is followed by a pause of half a second.
  fixture = await startWorld({ RETRY_FIRST: '1s', RETRY_MOST: '1s' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

/** A domain whose only host is at an address. */
function pointTo(address: string, domain = `d${randomUUID().slice(0, 8)}.example`): string {
  fixture.zone
    .set(`mx.${domain}`, { type: 'A', address })
    .set(domain, { type: 'MX', exchange: `mx.${domain}`, priority: 1 })
  return domain
}

async function send(domain: string): Promise<string> {
  const body = { to: `ann-${randomUUID().slice(0, 8)}@${domain}`, text: 'words' }
  const answer = await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

interface Row {
  readonly message_id: string
  readonly state: string
  readonly attempts: number
}

const rowsTo = (domain: string) =>
  queryRows<Row>(
    fixture.db,
    `select s.message_id, d.state, d.attempts from deliveries d join sends s on s.id = d.send_id where d.destination = $1`,
    domain,
  )
const suspended = (domain: string) =>
  countRows(fixture.db, `timers where payload ->> 'destination' = $1 and payload ? 'suspended'`, domain)

async function change(operation: 'mail-send.holdQueue' | 'mail-send.releaseQueue', domain: string): Promise<void> {
  const answer = await fixture.internal(operation, 'gateway', { destination: domain, operator: 'root' })
  expect(answer.status).toBe(200)
}

/** Messages whose retries were used up while a hold kept them back; one of them had found the destination down. */
async function overdue(domain: string): Promise<string[]> {
  const first = await send(domain)
  await waitFor(async () => (await rowsTo(domain))[0]?.state === 'deferred', { what: 'a failed attempt' })
  await change('mail-send.holdQueue', domain)
  const held = [first, ...(await Promise.all(Array.from({ length: HELD }, () => send(domain))))]
  const kept = () =>
    countRows(fixture.db, `timers where payload ->> 'destination' = $1 and due_at > '9000-01-01'`, domain)
  await waitFor(async () => (await kept()) === held.length, { what: 'all of it held' })
  for (const id of held) await age(fixture, id)
  return held
}

const bounced = (id: string) => factsAbout(fixture, id).filter(({ type }) => type === 'delivery.bounced')

describe('what is due at a destination that was down', () => {
  it('waits for the attempt that finds out whether it still is, and is delivered where it is not', async () => {
    const domain = pointTo(DEAD)
    const held = await overdue(domain)
    const before = await rowsTo(domain)
    pointTo('127.0.0.1', domain)
    const greeted = Promise.withResolvers<void>()
    fixture.outside.holdGreeting(greeted.promise)
    await change('mail-send.releaseQueue', domain)
    await waitFor(async () => (await suspended(domain)) >= HELD, { what: 'the others suspended' })
    // Nothing is counted, decided or published about what was not tried.
    expect(await rowsTo(domain)).toEqual(expect.arrayContaining(before))
    greeted.resolve()
    for (const id of held) await factOf(fixture, id, 'delivery.delivered')
    expect(held.flatMap(bounced)).toEqual([])
    expect((await rowsTo(domain)).filter(({ attempts }) => attempts !== 1)).toHaveLength(1)
  })

  it('shares the failure of an attempt that began later, so that it bounces in time without one for each', async () => {
    let connections = 0
    const server: Server = createServer((socket) => {
      connections++
      socket.on('error', () => {})
      socket.destroy()
    })
    const address = '127.0.9.241'
    await new Promise<void>((resolve) => server.listen(fixture.outside.port, address, resolve))
    const domain = pointTo(address)
    const held = await overdue(domain)
    connections = 0
    await change('mail-send.releaseQueue', domain)
    for (const id of held) await factOf(fixture, id, 'delivery.bounced')
    expect(connections).toBeLessThan(HELD)
    const shared = held
      .flatMap(bounced)
      .filter(({ payload }) => String(payload['diagnostic']).includes('another message'))
    expect(shared.length).toBeGreaterThan(0)
    expect((await rowsTo(domain)).filter(({ attempts }) => attempts !== 1)).toHaveLength(1)
    await new Promise((resolve) => server.close(resolve))
  })
})
