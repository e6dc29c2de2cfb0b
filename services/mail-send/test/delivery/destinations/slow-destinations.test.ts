import { randomUUID } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { type PeerAnswer, queryRows, waitFor } from '@restante/testkit'
import { shareOf } from '../../../src/timers/kinds.ts'
import { type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'

const CONCURRENCY = 2
let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld({
    DELIVERY_CONCURRENCY: String(CONCURRENCY),
    // No server that is silent is given up while a test lasts.
    DELIVERY_ANSWER_TIMEOUT: '10m',
    RETRY_FIRST: '1h',
    RETRY_MOST: '1h',
  })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

async function send(to: string): Promise<string> {
  const body = { to, text: 'words' }
  const answer = await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

interface Tarpit {
  readonly domain: string
  readonly sockets: Set<Socket>
  connections: number
  stop(): Promise<void>
}

let tarpits = 0

/** A destination whose server accepts connections; `greet` is what it does then, by default nothing. */
async function tarpit(greet: (socket: Socket) => void = () => {}): Promise<Tarpit> {
  const address = `127.0.9.${++tarpits}`
  const domain = `tarpit-${randomUUID().slice(0, 8)}.example`
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    made.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
    greet(socket)
  })
  const made: Tarpit = {
    domain,
    sockets,
    connections: 0,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  await new Promise<void>((resolve) => server.listen(fixture.outside.port, address, resolve))
  fixture.zone
    .set(`mx.${domain}`, { type: 'A', address })
    .set(domain, { type: 'MX', exchange: `mx.${domain}`, priority: 1 })
  return made
}

interface Row {
  readonly state: string
  readonly attempts: number
  readonly diagnostic: string | null
  readonly kind: string | null
  readonly share: number | null
  readonly organization_id: string
  readonly postponed: boolean
}

async function rowOf(messageId: string): Promise<Row> {
  const [row] = await queryRows<Row>(
    fixture.db,
    `select d.state, d.attempts, d.diagnostic, t.kind, t.share, s.organization_id,
            coalesce(t.due_at > now() and t.lease_id is null, false) as postponed
       from sends s join deliveries d on d.send_id = s.id left join timers t on t.key = s.id || '/' || d.destination
      where s.message_id = $1`,
    messageId,
  )
  if (!row) throw new Error('no delivery')
  return row
}

describe('destinations that hang', () => {
  it('do not hold up others, although there are more of them than workers', async () => {
    const hanging = await Promise.all(Array.from({ length: CONCURRENCY * 2 }, () => tarpit()))
    const stuck = await Promise.all(hanging.map(({ domain }) => send(`ann@${domain}`)))
    await waitFor(() => hanging.filter(({ connections }) => connections > 0).length >= CONCURRENCY, {
      what: 'workers that wait',
    })
    await factOf(fixture, await send(`bo@fine-${randomUUID().slice(0, 8)}.example`), 'delivery.delivered')
    await waitFor(async () => (await Promise.all(stuck.map(rowOf))).every(({ kind }) => kind === 'delivery-slow'), {
      what: 'all of it among the slow',
    })
    // Nothing was decided about them, so no attempt is counted yet.
    expect(await Promise.all(stuck.map(rowOf))).toEqual(
      stuck.map(() => expect.objectContaining({ state: 'queued', attempts: 0 })),
    )
    await Promise.all(hanging.map(({ stop }) => stop()))
  })
})

describe('a destination that cannot be reached', () => {
  it('is not connected to again at once: what is sent in the meantime waits, and that is no attempt', async () => {
    const dead = await tarpit((socket) => socket.destroy())
    const first = await send(`ann@${dead.domain}`)
    await waitFor(async () => (await rowOf(first)).state === 'deferred', { what: 'the first deferral' })
    const { connections } = dead
    const second = await send(`bo@${dead.domain}`)
    await waitFor(async () => (await rowOf(second)).postponed, { what: 'the second message suspended' })
    expect(dead.connections).toBe(connections)
    expect(await rowOf(second)).toMatchObject({ state: 'queued', attempts: 0, diagnostic: null, kind: 'delivery-slow' })
    const { share, organization_id } = await rowOf(second)
    expect(share).toBe(shareOf(organization_id))
    // What waits outlasts the process that has suspended it, and what that had learnt.
    await dead.stop()
    fixture.zone.set(`mx.${dead.domain}`, { type: 'A', address: '127.0.0.1' })
    await fixture.restart()
    await fixture.internal('mail-send.retryQueued', 'gateway', { destination: dead.domain, operator: 'root' })
    for (const id of [first, second]) await factOf(fixture, id, 'delivery.delivered')
    expect(await rowOf(second)).toMatchObject({ attempts: 1 })
  })

  it('gets its mail when it answers again, and is then no longer among the slow', async () => {
    const quick = await startWorld({ RETRY_FIRST: '200ms', RETRY_MOST: '400ms' })
    quick.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
    quick.zone.set('mx.outside.test', { type: 'A', address: '127.0.9.250' })
    const call = async (to: string) => {
      const answer = await quick.call('messages.send', inboxCaller(), {
        path: '/messages/send',
        body: { to, text: 'words' },
      })
      return String(answer.body['message_id'])
    }
    const id = await call('ann@back.example')
    await factOf(quick, id, 'delivery.delayed')
    const kinds = () => queryRows<{ kind: string }>(quick.db, 'select kind from timers')
    expect(await kinds()).toEqual([{ kind: 'delivery-slow' }])
    quick.zone.set('mx.outside.test', { type: 'A', address: '127.0.0.1' })
    await factOf(quick, id, 'delivery.delivered')
    quick.outside.answerRecipient('bo@back.example', ...Array<PeerAnswer>(1_000).fill('450 4.2.0 later'))
    const after = await call('bo@back.example')
    await factOf(quick, after, 'delivery.delayed')
    expect(await kinds()).toEqual([{ kind: 'delivery-outside' }])
    quick.outside.answerRecipient('bo@back.example')
    await factOf(quick, after, 'delivery.delivered')
    expect(factsAbout(quick, id).filter(({ type }) => type === 'delivery.delivered')).toHaveLength(1)
    await quick.stop()
  })
})

describe('a server that asks to slow down', () => {
  it('gets one message at a time, until it takes them again', async () => {
    const domain = `busy-${randomUUID().slice(0, 8)}.example`
    const [asking, first, second] = ['ann', 'bo', 'cy'].map((name) => `${name}@${domain}`)
    if (!asking || !first || !second) throw new Error('no recipients')
    fixture.outside.answerRecipient(asking, '450 4.2.1 too fast')
    const deferred = await send(asking)
    await waitFor(async () => (await rowOf(deferred)).state === 'deferred', { what: 'the deferral' })
    const taken = Promise.withResolvers<void>()
    fixture.outside.holdData(first, taken.promise)
    const begun = await send(first)
    await waitFor(async () => (await rowOf(begun)).state === 'handing_over', { what: 'the first message' })
    const later = await send(second)
    await waitFor(async () => (await rowOf(later)).postponed, { what: 'the second message postponed' })
    expect(await rowOf(later)).toMatchObject({ state: 'queued', attempts: 0 })
    taken.resolve()
    await factOf(fixture, begun, 'delivery.delivered')
    await factOf(fixture, later, 'delivery.delivered')
  })
})

describe('DELIVERY_PER_MINUTE', () => {
  const names = [1, 2, 3, 4, 5].map((number) => `ann-${number}@even.example`)

  async function pacedWorld(perMinute: number): Promise<{ paced: Fixture; deliver: (to: string) => Promise<unknown> }> {
    const paced = await startWorld({ DELIVERY_PER_MINUTE: String(perMinute) })
    paced.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
    const deliver = (to: string) =>
      paced.call('messages.send', inboxCaller(), { path: '/messages/send', body: { to, text: 'words' } })
    return { paced, deliver }
  }

  it('spreads the messages to one destination, and leaves the others alone', async () => {
    const { paced, deliver } = await pacedWorld(1)
    await Promise.all(names.map(deliver))
    await deliver('bo@other.example')
    await paced.outside.next('bo@other.example')
    const arrived = () => names.filter((name) => paced.outside.mailsTo(name).length > 0)
    await waitFor(() => arrived().length > 0, { what: 'the first message' })
    const postponed = `select due_at from timers
       where payload ->> 'destination' = 'even.example' and due_at > now() and lease_id is null order by due_at`
    const times = await waitFor(
      async () => {
        const rows = await queryRows<{ due_at: Date }>(paced.db, postponed)
        return rows.length === names.length - 1 && rows.map((row) => row.due_at.getTime())
      },
      { what: 'the other messages postponed' },
    )
    expect(times.slice(1).map((time, at) => time - (times[at] ?? 0))).toEqual([60_000, 60_000, 60_000])
    expect(arrived()).toHaveLength(1)
    await paced.stop()
  })

  it('delivers each message when its time has come', async () => {
    const { paced, deliver } = await pacedWorld(120)
    await Promise.all(names.map(deliver))
    await Promise.all(names.map((name) => paced.outside.next(name)))
    await paced.stop()
  })
})
