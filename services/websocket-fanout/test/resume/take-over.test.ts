import type { Caller } from '@restante/contracts/access'
import { ServiceClient } from '@restante/service/http'
import {
  callerHeaders,
  GATEWAY_KEYS,
  organizationTakenOverEvent,
  receivedEvent,
  type StreamClient,
  waitFor,
} from '@restante/testkit'
import { callerWith, startFanout, type Tenant, type TestFanout } from '../fanout.ts'

let fanout: TestFanout
let edge: ServiceClient<'gateway'>
beforeAll(async () => {
  fanout = await startFanout()
  const url = `http://127.0.0.1:${fanout.port}`
  edge = new ServiceClient({ from: 'gateway', to: 'websocket-fanout', url, key: GATEWAY_KEYS.peer })
})
afterAll(async () => {
  await edge.stop()
  await fanout.stop()
})

/** A caller with a key that stays alive, so that nothing but the take-over can end it. */
async function callerOf(tenant: Tenant, takeOvers: number): Promise<Caller> {
  const caller = callerWith(tenant, await fanout.key(tenant))
  return takeOvers === 0 ? caller : { ...caller, take_overs: takeOvers }
}

async function poll(caller: Caller, cursor = '', port = fanout.port) {
  const headers = callerHeaders('websocket-fanout', GATEWAY_KEYS.caller, 'stream.poll', caller)
  const response = await fetch(`http://127.0.0.1:${port}/stream/poll?cursor=${cursor}&wait=20`, { headers })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

const endStreams = (tenant: Tenant, take_overs: number) =>
  edge.call('websocket-fanout.endStreams', { organization_id: tenant.id, take_overs })

/** Whether a stream that is opened now is closed at once. */
async function isRefused(caller: Caller, port = fanout.port): Promise<boolean> {
  const stream = await fanout.connectAs(caller, port)
  stream.send({ type: 'subscribe' })
  await waitFor(() => stream.closed !== undefined || stream.frames.length > 0, { what: 'an answer or a close' })
  const { closed } = stream
  await stream.close()
  return closed !== undefined
}

describe('after a take-over is answered, while its event is held back', () => {
  it('no stream, cursor or poll of an earlier key gets an event, on any instance; those of the new key do', async () => {
    const tenant = await fanout.tenant()
    const { port: elsewhere } = await fanout.another()
    const [earlier, heir] = [await callerOf(tenant, 0), await callerOf(tenant, 1)]
    const streams: StreamClient[] = []
    for (const port of [fanout.port, elsewhere]) {
      const stream = await fanout.connectAs(earlier, port)
      await stream.ask({ type: 'subscribe', cursors: true })
      streams.push(stream)
    }
    const before = receivedEvent(tenant.inbox)
    await fanout.publish(before)
    for (const stream of streams) await stream.next(() => true, { what: 'the event before' })
    const cursor = String(streams[0]?.events[0]?.['cursor'])
    const polls = [
      poll(earlier, (await poll(earlier)).body.cursor),
      poll(earlier, (await poll(earlier)).body.cursor, elsewhere),
    ]
    const kept = await fanout.connectAs(heir)
    await kept.ask({ type: 'subscribe' })
    await endStreams(tenant, 1)
    const after = receivedEvent(tenant.inbox)
    await fanout.log(after)
    await kept.next((event) => event['event_id'] === after.id, { what: 'the event after' })
    for (const stream of streams) {
      expect((await stream.ended()).code).toBe(1008)
      expect(stream.events.map((event) => event['event_id'])).toEqual([before.id])
    }
    for (const answer of polls) expect(await answer).toMatchObject({ status: 401, body: { code: 'unknown_api_key' } })
    for (const port of [fanout.port, elsewhere]) {
      expect(await isRefused(earlier, port)).toBe(true)
      expect((await poll(earlier, cursor, port)).status).toBe(401)
    }
    expect(await poll(heir, cursor)).toMatchObject({ status: 400, body: { errors: [{ path: ['cursor'] }] } })
    expect(await kept.ask({ type: 'subscribe', resume_from: cursor })).toMatchObject({
      type: 'error',
      code: 'validation_error',
      errors: [{ path: ['resume_from'] }],
    })
    await kept.close()
  })

  it('an instance that starts later knows of it', async () => {
    const tenant = await fanout.tenant()
    await endStreams(tenant, 1)
    const { port } = await fanout.another()
    expect(await isRefused(await callerOf(tenant, 0), port)).toBe(true)
    expect(await isRefused(await callerOf(tenant, 1), port)).toBe(false)
  })

  it('repeated calls and the event change nothing for the new key, and a lower number nothing at all', async () => {
    const tenant = await fanout.tenant()
    const heir = await callerOf(tenant, 2)
    const stream = await fanout.connectAs(heir)
    await stream.ask({ type: 'subscribe' })
    for (const number of [0, 2, 2, 1]) await endStreams(tenant, number)
    await fanout.tell(organizationTakenOverEvent(tenant.id, { takeOvers: 2 }), organizationTakenOverEvent(tenant.id))
    const event = receivedEvent(tenant.inbox)
    await fanout.publish(event)
    await stream.next((got) => got['event_id'] === event.id, { what: 'an event' })
    expect(await isRefused(await callerOf(tenant, 1))).toBe(true)
    await stream.close()
  })
})

describe('the event of a take-over', () => {
  it('has the same effect where the call did not come', async () => {
    const tenant = await fanout.tenant()
    const stream = await fanout.connectAs(await callerOf(tenant, 0))
    await stream.ask({ type: 'subscribe' })
    await fanout.tell(organizationTakenOverEvent(tenant.id))
    expect((await stream.ended()).code).toBe(1008)
  })
})
