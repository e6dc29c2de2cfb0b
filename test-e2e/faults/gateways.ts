import { type StreamClient, waitFor } from '@restante/testkit'
import { atRate } from '../support/open-loop.ts'
import { openStream } from '../support/streams.ts'
import type { Installation } from './harness/installation.ts'

const STREAMS = 60
/** Requests per second, reads and writes, answered by the gateway itself and by the services behind it. */
const RATE = 40
/** Less than the 30 s of production, to keep the test short. */
export const GRACE_MS = 20_000
/** The time over which a gateway with this grace period spreads its closes; the rest is for running requests. */
const WINDOW_MS = GRACE_MS - 9_000
/** Close code of a stream whose client should reconnect (events 6.7). */
const RESTART = 1012

interface Close {
  readonly code: number
  readonly at: number
}

/** The promises of two gateways behind HAProxy, with the configuration for operators (deploy/haproxy). */
export function describeGatewayRestarts(installationOf: () => Installation): void {
  let over = false
  afterAll(() => {
    over = true
  })

  it('fails no request while its gateways are restarted one after the other, and moves streams a few at a time', async () => {
    const { system, tenant } = installationOf()
    const streams: Promise<void>[] = []
    const closes: Close[] = []
    const failures: string[] = []
    const open = new Set<StreamClient>()

    /** A client of the stream, which reconnects at once whenever it is closed. */
    async function follow(): Promise<void> {
      while (!over) {
        const stream = await openStream(system.endpoints, tenant.key).catch((error: unknown) => {
          failures.push(`stream: ${String(error)}`)
          return undefined
        })
        if (stream === undefined) return
        open.add(stream)
        const { code } = await stream.ended({ what: 'the stream to end', timeout: 600_000, interval: 20 })
        open.delete(stream)
        closes.push({ code, at: performance.now() })
      }
    }

    /** One request without retries: anything other than success is a failure. */
    async function request(index: number): Promise<void> {
      const work = requests[index % requests.length] ?? requests[0]
      const { what, make } = work
      try {
        const { status, body } = await make()
        if (status >= 300) failures.push(`${what}: ${status} ${JSON.stringify(body)}`)
      } catch (error) {
        failures.push(`${what}: ${String(error)} ${String(error instanceof Error ? error.cause : '')}`)
      }
    }
    const { api } = tenant
    const requests = [
      { what: 'GET /v0/auth/me', make: () => api.get('/v0/auth/me') },
      { what: 'GET /v0/threads', make: () => api.get('/v0/threads') },
      { what: 'POST /v0/inboxes', make: () => api.post('/v0/inboxes', {}) },
      { what: 'GET /v0/webhooks', make: () => api.get('/v0/webhooks') },
    ] as const

    for (let index = 0; index < STREAMS; index++) streams.push(follow())
    await waitFor(() => open.size === STREAMS, { what: 'the streams' })
    let made = 0
    let restarting = true
    const load = (async () => {
      while (restarting) await atRate(RATE, RATE, () => request(made++))
    })()

    const moved: Close[][] = []
    for (const replica of [0, 1]) {
      closes.length = 0
      const gateway = system.process('gateway', replica)
      await gateway.stop('SIGTERM', GRACE_MS + 5_000)
      moved.push([...closes])
      gateway.supervise()
      await gateway.ready()
      await waitFor(() => open.size === STREAMS, { what: 'the streams to be back' })
    }
    restarting = false
    await load
    over = true
    await Promise.all([...open].map((stream) => stream.close()))
    await Promise.all(streams)

    expect(failures).toEqual([])
    expect(made).toBeGreaterThan((2 * RATE * WINDOW_MS) / 1000)
    expect(system.processes().flatMap(({ deaths }) => deaths)).toEqual([])
    for (const each of moved) {
      // The first gateway held half of the streams; by then the second holds all.
      expect(each.length).toBeGreaterThanOrEqual(STREAMS / 4)
      expect(new Set(each.map(({ code }) => code))).toEqual(new Set([RESTART]))
      const { lasting, mostInOneSecond } = spreadOf(each)
      expect(lasting).toBeGreaterThan(WINDOW_MS * 0.6)
      // Requests that still run have what is left of the grace period.
      expect(lasting).toBeLessThan(GRACE_MS)
      expect(mostInOneSecond).toBeLessThanOrEqual(each.length / 2)
    }
  }, 600_000)
}

/** Time from the first close to the last, in milliseconds, and the largest number of closes within a second. */
function spreadOf(closes: readonly Close[]): { lasting: number; mostInOneSecond: number } {
  const times = closes.map(({ at }) => at)
  const inOneSecond = times.map((time) => times.filter((other) => other >= time && other < time + 1_000).length)
  return { lasting: Math.max(...times) - Math.min(...times), mostInOneSecond: Math.max(...inOneSecond) }
}
