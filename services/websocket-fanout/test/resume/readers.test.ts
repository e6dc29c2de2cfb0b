import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { callerHeaders, GATEWAY_KEYS, receivedEvent, waitFor } from '@restante/testkit'
import { WebSocket } from 'ws'
import { callerWith, type Key, startFanout, type Tenant, type TestFanout } from '../fanout.ts'

let fanout: TestFanout
let tenant: Tenant
beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
})
afterAll(() => fanout.stop())

const endings = sql<{ position: string }, [credentialId: string]>(
  `select position::text from stream_log where kind = 'credential_ended' and credential_id = $1`,
)
const ended = async (id: string) => (await fanout.db.query(endings, id)).length > 0

/** More than the buffers of both ends hold: a replay of it waits for its reader. */
const MISSED = 60
const BYTES = 850_000

async function pagesInMemory(count: number): Promise<void> {
  const { register } = await import('prom-client')
  const pages = register.getSingleMetric('restante_stream_pages')
  await waitFor(async () => (await pages?.get())?.values[0]?.value === count, { what: `${count} pages in memory` })
}

interface Reader {
  readonly socket: WebSocket
  readonly ids: string[]
  readonly types: string[]
  readonly closed: Promise<unknown[]>
}

/** A client that asks for what it missed, and stops reading when that begins. */
async function resuming(key: Key, cursor: string, port = fanout.port): Promise<Reader> {
  const headers = callerHeaders('websocket-fanout', GATEWAY_KEYS.caller, 'stream.connect', callerWith(tenant, key))
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers })
  const reader: Reader = { socket, ids: [], types: [], closed: once(socket, 'close') }
  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString())
    reader.types.push(frame.type)
    if (frame.type === 'event') reader.ids.push(frame.event_id)
  })
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'subscribe', resume_from: cursor }))
  await once(socket, 'message')
  socket.pause()
  return reader
}

async function missedSince(): Promise<{ cursor: string; ids: string[] }> {
  const stream = await fanout.connect(tenant.key)
  const { cursor } = await stream.ask({ type: 'subscribe', cursors: true })
  await stream.close()
  const events = Array.from({ length: MISSED }, () => receivedEvent(tenant.inbox, { text: 'x'.repeat(BYTES) }))
  for (const event of events) await fanout.publish(event)
  await fanout.log(receivedEvent(tenant.inbox))
  return { cursor: String(cursor), ids: events.map(({ id }) => id) }
}

describe('a replay to a reader that does not read', () => {
  let missed: { cursor: string; ids: string[] }
  beforeAll(async () => {
    missed = await missedSince()
  })

  it('waits for it, and goes on where it was', async () => {
    const reader = await resuming(await fanout.key(tenant), missed.cursor)
    // Others get what is live in the meantime.
    const other = await fanout.connect(tenant.key)
    await other.ask({ type: 'subscribe' })
    const live = receivedEvent(tenant.inbox)
    await fanout.publish(live)
    await other.next((event) => event['event_id'] === live.id, { what: 'a live event' })
    reader.socket.resume()
    await waitFor(() => reader.types.includes('resumed'), { what: 'the end of what was missed', timeout: 60_000 })
    await waitFor(() => reader.ids.includes(live.id), { what: 'the live event' })
    expect(reader.ids.slice(0, MISSED)).toEqual(missed.ids)
    expect(new Set(reader.ids).size).toBe(reader.ids.length)
    reader.socket.terminate()
    await other.close()
  })

  it('lets frames wait that come meanwhile, however many, and answers them in the end', async () => {
    const reader = await resuming(await fanout.key(tenant), missed.cursor)
    // Within the allowed rate, also where a busy machine has the server read three of them at once.
    const [bursts, frames] = [8, 15]
    for (let burst = 0; burst < bursts; burst++) {
      for (let frame = 0; frame < frames; frame++) reader.socket.send('{"type":"subscribe"}')
      await pause(500)
    }
    reader.socket.resume()
    const answered = () => reader.types.filter((type) => type === 'subscribed').length
    await waitFor(() => answered() === 1 + bursts * frames, { what: 'every answer', timeout: 60_000 })
    expect(reader.types.lastIndexOf('event')).toBeLessThan(reader.types.indexOf('resumed'))
    reader.socket.terminate()
  })

  it('ends with its key, and keeps a page in memory until then', async () => {
    const key = await fanout.key(tenant)
    const reader = await resuming(key, missed.cursor)
    await pagesInMemory(1)
    await fanout.gateway.request(tenant.key, 'DELETE', `/v0/api-keys/${key.id}`)
    await waitFor(() => ended(key.id), { what: 'the end of the key in the log' })
    // The close follows what was on its way by then, and no more of what was missed.
    reader.socket.resume()
    expect((await reader.closed)[0]).toBe(1008)
    await pagesInMemory(0)
    expect(reader.ids.length).toBeLessThan(MISSED)
    expect(reader.types).not.toContain('resumed')
  })

  it('does not delay a shutdown', async () => {
    const { service, port } = await fanout.another()
    const reader = await resuming(await fanout.key(tenant), missed.cursor, port)
    const begun = performance.now()
    await service.stop()
    expect(performance.now() - begun).toBeLessThan(LIMITS.stream.replayStall)
    reader.socket.resume()
    await reader.closed
    expect(reader.types).not.toContain('resumed')
  })
})
