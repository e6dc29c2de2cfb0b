import { once } from 'node:events'
import { GatewayProcess, receivedEvent, StreamClient, waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import { WebSocket } from 'ws'
import { startFanout, type Tenant, type TestFanout } from '../fanout.ts'

let fanout: TestFanout
let tenant: Tenant
beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
})
afterAll(() => fanout.stop())

async function subscribed(): Promise<StreamClient> {
  const stream = await fanout.connect(tenant.key)
  await stream.ask({ type: 'subscribe' })
  return stream
}

/** How many streams were closed because their readers were too slow. */
async function closes(): Promise<number> {
  const { values = [] } = (await register.getSingleMetric('restante_stream_closes_total')?.get()) ?? {}
  return values.find(({ labels }) => labels['code'] === 1013)?.value ?? Number.NaN
}

describe('streams that share links', () => {
  it('get every event once and in order, small and large, among their own answers', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, subscribed))
    const texts = Array.from({ length: 30 }, (_, index) => 'x'.repeat(index % 10 === 9 ? 300_000 : 1_000 * (index % 3)))
    const events = texts.map((text) => receivedEvent(tenant.inbox, { text }))
    const published = fanout.publish(...events)
    for (const stream of streams) {
      expect(await stream.ask({ type: 'unsubscribe', inbox_ids: ['nobody@restante.test'] })).toMatchObject({
        type: 'unsubscribed',
      })
    }
    await published
    for (const stream of streams) {
      await waitFor(() => stream.events.length >= events.length, { what: 'all events' })
      expect(stream.events.map((event) => event['event_id'])).toEqual(events.map(({ id }) => id))
      await stream.close()
    }
  })

  it('do not wait for one that is not read, which is closed with 1013', async () => {
    const slow = new WebSocket(`${fanout.gateway.url.replace('http', 'ws')}/v0?api_key=${tenant.key}`)
    await once(slow, 'open')
    slow.send('{"type":"subscribe"}')
    await once(slow, 'message')
    slow.pause()
    // More than there are links, so that one of them shares that of the slow one.
    const quick = await Promise.all(Array.from({ length: 10 }, subscribed))
    const before = await closes()
    for (let sent = 1; sent <= 30 && (await closes()) === before; sent++) {
      await fanout.publish(receivedEvent(tenant.inbox, { text: 'x'.repeat(850_000) }))
      // One at a time: on a loaded machine this process would be a slow reader itself.
      for (const stream of quick) {
        await waitFor(() => stream.events.length === sent || stream.closed, { what: `event ${sent} on the stream` })
        expect(stream.closed).toBeUndefined()
      }
    }
    const closed = once(slow, 'close')
    slow.resume()
    expect((await closed)[0]).toBe(1013)
    await Promise.all(quick.map((stream) => stream.close()))
  })
})

describe('an instance that shuts down', () => {
  it('closes the streams of its links with 1012, and those that are opened meanwhile', async () => {
    const { service, port } = await fanout.another({ STREAM_DRAIN: '3s' })
    const upstreams = { 'websocket-fanout': `http://127.0.0.1:${port}` }
    const edge = await GatewayProcess.start({ ...fanout, upstreams, databaseUrl: fanout.gateway.databaseUrl })
    const open = () => StreamClient.open(`${edge.url.replace('http', 'ws')}/v0?api_key=${tenant.key}`)
    const streams = await Promise.all(Array.from({ length: 5 }, open))
    const stopped = service.stop()
    await waitFor(() => streams.some(({ closed }) => closed), { what: 'the first close' })
    streams.push(await open())
    await stopped
    for (const stream of streams) {
      await stream.ended()
      expect(stream.closed?.code).toBe(1012)
    }
    const refused = await open()
    await refused.ended()
    expect(refused.closed?.code).toBe(1013)
    await edge.stop()
  })
})
