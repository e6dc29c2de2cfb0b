import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { callerHeaders, deliveredEvent, GATEWAY_KEYS, GatewayProcess, receivedEvent, waitFor } from '@restante/testkit'
import { deleteEntriesBefore } from '../../src/log/sweeper.ts'
import { LogReader } from '../../src/replay/reader.ts'
import { callerWith, startFanout, type Tenant, type TestFanout } from '../fanout.ts'
import { gaugeIs, type PollBody, waiting } from './polling.ts'

let fanout: TestFanout
let tenant: Tenant
beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
})
afterAll(() => fanout.stop())

async function answerTo(url: string, headers: Record<string, string>): Promise<PollBody> {
  const response = await fetch(url, { headers })
  const text = await response.text()
  if (!response.ok) throw new Error(`the poll was answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

async function poll(query: Record<string, string>, url = fanout.gateway.url, id = randomUUID()): Promise<PollBody> {
  const headers = { authorization: `Bearer ${tenant.key}`, 'x-request-id': id }
  return answerTo(`${url}/v0/stream/poll?${new URLSearchParams(query)}`, headers)
}

// Events that a poll does not want, as copies of one that is in the log.
const COPY = sql<unknown, [eventId: string, count: number]>(
  `insert into stream_log (event_id, kind, type, organization_id, pod_id, inbox_uid, restricted, payload)
   select gen_random_uuid(), kind, type, organization_id, pod_id, inbox_uid, restricted, payload
   from stream_log, generate_series(1, $2) where event_id = $1`,
)
const LOCK_SWEPT = sql<unknown>('lock table stream_log_swept in access exclusive mode')
const BLOCKED = sql<{ count: number }>(
  `select count(*)::int as count from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock' and query like '%stream_log_swept%'`,
)

describe('a poll of a service that began after a day without events', () => {
  it('begins with a cursor that is valid', async () => {
    await fanout.log(receivedEvent(tenant.inbox))
    await deleteEntriesBefore(fanout.db, new Date(Date.now() + 60_000), 1_000_000)
    const { port } = await fanout.another()
    const headers = callerHeaders(
      'websocket-fanout',
      GATEWAY_KEYS.caller,
      'stream.poll',
      callerWith(tenant, await fanout.key(tenant)),
    )
    const url = `http://127.0.0.1:${port}/stream/poll`
    const { cursor } = await answerTo(url, headers)
    const expected = { events: [], cursor: expect.any(String) }
    expect(await answerTo(`${url}?wait=0&cursor=${cursor}`, headers)).toEqual(expected)
  })
})

describe('a poll that wants few of many events', () => {
  it('ends after a bounded share of them with a cursor that keeps it, until it has found the ones it wants', async () => {
    const { cursor } = await poll({})
    const unwanted = deliveredEvent(tenant.inbox)
    const stream = await fanout.connect(tenant.key)
    await stream.ask({ type: 'subscribe', event_types: ['message.received'] })
    await fanout.log(unwanted)
    await fanout.db.query(COPY, unwanted.id, 25_000)
    const wanted = receivedEvent(tenant.inbox)
    await fanout.publish(wanted)
    await stream.next((event) => event['event_id'] === wanted.id, { what: 'the end of the log' })
    const answers: PollBody[] = []
    for (let next = cursor; answers.at(-1)?.events.length !== 1 && answers.length < 10; ) {
      const answer = await poll({ cursor: next, event_types: 'message.received' })
      answers.push(answer)
      next = answer.cursor
    }
    expect(answers.map(({ events, has_more: more }) => [events.map((event) => event['event_id']), more])).toEqual([
      [[], true],
      [[], true],
      [[wanted.id], undefined],
    ])
    await stream.close()
  })
})

describe('the pages of an organization in memory', () => {
  it('are 32 for its streams and 32 for its polls: one more waits until one is taken', async () => {
    const reader = new LogReader(fanout.db)
    const taken = await Promise.all(Array.from({ length: 32 }, () => reader.enter('streams', tenant.id)))
    const entered: string[] = []
    const waits = reader.enter('streams', tenant.id).then((leave) => {
      entered.push('one more')
      return leave
    })
    const others = [await reader.enter('polls', tenant.id), await reader.enter('streams', randomUUID())]
    expect(entered).toEqual([])
    taken.pop()?.()
    for (const leave of [await waits, ...taken, ...others]) leave()
    await gaugeIs('restante_stream_pages', 0, 'no page in memory')
  })
})

describe('the documents of a poll', () => {
  it('count as in memory until its client has taken them, and no longer', async () => {
    const { cursor } = await poll({})
    await fanout.log(receivedEvent(tenant.inbox))
    expect((await poll({ cursor })).events).toHaveLength(1)
    await gaugeIs('restante_stream_pages', 0, 'no page in memory')
  })
})

describe('a poll whose client has disconnected', () => {
  it('before it began to wait does not wait', async () => {
    const caller = callerWith(tenant, await fanout.key(tenant))
    const headers = callerHeaders('websocket-fanout', GATEWAY_KEYS.caller, 'stream.poll', caller)
    const url = `http://127.0.0.1:${fanout.port}`
    const { cursor } = await answerTo(`${url}/stream/poll`, headers)
    const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>()
    const locking = fanout.db.transaction(async (tx) => {
      await tx.query(LOCK_SWEPT)
      const asked = request(`${url}/stream/poll?cursor=${cursor}`, { headers })
      asked.on('error', () => {})
      asked.end()
      await waitFor(async () => (await fanout.db.query(BLOCKED))[0]?.count === 1, { what: 'the poll to be held up' })
      asked.destroy()
      // The service has read the end of the connection before the request of a later one.
      await fetch(`${url}/healthz`)
      await unlocked
    })
    unlock()
    await locking
    // One that comes later has been answered: by then the first has begun.
    const { cursor: own } = await answerTo(`${url}/stream/poll`, headers)
    expect((await answerTo(`${url}/stream/poll?wait=0&cursor=${own}`, headers)).events).toEqual([])
    await waiting(0)
  })
})

describe('an edge that shuts down', () => {
  it('has a waiting poll answered at once although another of the same request id has ended', async () => {
    const edge = await GatewayProcess.start({ ...fanout, databaseUrl: fanout.gateway.databaseUrl })
    const id = randomUUID()
    const { cursor } = await poll({})
    const long = poll({ cursor }, edge.url, id)
    await waiting(1)
    await poll({ cursor: (await poll({})).cursor, wait: '0' }, edge.url, id)
    const begun = performance.now()
    const stopped = edge.stop()
    expect((await long).events).toEqual([])
    expect(performance.now() - begun).toBeLessThan((LIMITS.stream.pollWait * 1_000 * 2) / 3)
    await stopped
  })
})
