import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { byLength, callerOf, inboxScope, PATIENCE_MS, receivedEvent, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
import { type Behaviour, Endpoint } from './endpoint.ts'
import { recordSchedule, type Waits, waitsOf } from './schedule-record.ts'

const EVENTS = byLength({ short: 40, long: 10_000 })
/** Published at a time. */
const CHUNK = 500
const SLEEP_MS = byLength({ short: 500, long: 10_000 })
const { retries, jitter, inFlight } = LIMITS.webhook
/** Times of the log are whole milliseconds, and a request's end is its beginning and its duration. */
const ROUNDING_MS = 2
const LONGEST_WAIT_MS = Math.max(...retries) * (1 + jitter)
const TIMEOUT = byLength({ short: PATIENCE_MS, long: 30 * PATIENCE_MS })

let dispatcher: TestDispatcher
const endpoints: Endpoint[] = []
beforeAll(async () => {
  dispatcher = await startDispatcher()
  await recordSchedule(dispatcher.db)
})
afterAll(async () => {
  await dispatcher.clear()
  await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
  await dispatcher.stop()
})

const passTime = sql<unknown, [webhookId: string, ms: number]>(
  `update timers set due_at = due_at - $2::float8 * interval '1 millisecond'
   where lease_id is null and due_at > now() and key in (select id from deliveries where webhook_id = $1)`,
)
const countFailed = sql<{ count: number }, [webhookId: string, failures: number]>(
  'select count(*)::int as count from deliveries where webhook_id = $1 and attempts >= $2',
)
const countLogged = sql<{ state: string; count: number }, [webhookId: string]>(
  'select state, count(*)::int as count from delivery_log where webhook_id = $1 group by state',
)

interface Subscribed {
  readonly id: string
  readonly endpoint: Endpoint
}

async function subscribe(caller: Caller, behaviour: Behaviour): Promise<Subscribed> {
  const endpoint = await new Endpoint(behaviour).start()
  endpoints.push(endpoint)
  const wanted = { url: endpoint.url, event_types: ['message.received'] }
  return { id: (await dispatcher.webhook(caller, wanted)).webhook_id, endpoint }
}

async function publish(caller: Caller): Promise<void> {
  const scope = inboxScope({ organizationId: caller.organization_id })
  for (let sent = 0; sent < EVENTS; sent += CHUNK) {
    const events = Array.from({ length: Math.min(CHUNK, EVENTS - sent) }, () => receivedEvent(scope))
    await dispatcher.events.publish(topics['mail.messages'], ...events)
  }
}

/** Resolves when every delivery of a webhook has failed so often, or once more. */
function allFailed({ id }: Subscribed, failures: number): Promise<unknown> {
  const isSo = async () => (await dispatcher.db.query(countFailed, id, failures))[0]?.count === EVENTS
  return waitFor(isSo, { what: `failure ${failures} of every delivery`, timeout: TIMEOUT, interval: 100 })
}

/** Resolves when every delivery of a webhook has ended like that. */
function allEnded({ id }: Subscribed, state: string): Promise<unknown> {
  const isSo = async () => {
    expect(await dispatcher.db.query(countLogged, id)).toEqual([{ state, count: EVENTS }])
    return true
  }
  return waitFor(isSo, { what: `every delivery to be ${state}`, timeout: TIMEOUT, interval: 100 })
}

/** Expects that deliveries were given the waits of the schedule, each with its own jitter. */
function expectSchedule(waits: readonly Waits[]): void {
  for (const { failures, fromFailure, least, most } of waits) {
    const wait = retries[failures - 1] ?? 0
    expect(fromFailure).toBeGreaterThanOrEqual(wait - ROUNDING_MS)
    expect(most).toBeLessThanOrEqual(failures === 1 ? wait : wait * (1 + jitter))
    if (failures === 1) continue
    // All of 40 jitters are in the same half once in 10^12 times.
    expect(least).toBeLessThan(wait * (1 + jitter / 2))
    expect(most).toBeGreaterThan(wait * (1 + jitter / 2))
  }
}

describe(`${EVENTS} events for a healthy webhook, one answered with 500 and one answered with 503 after ${SLEEP_MS} ms`, () => {
  it(
    'reach the healthy one once each, and are retried at the others by the schedule until they are given up, or taken',
    async () => {
      const caller = callerOf()
      const healthy = await subscribe(caller, { status: 200 })
      const failing = await subscribe(caller, { status: 500 })
      const slow = await subscribe(caller, { status: 503, afterMs: SLEEP_MS })
      await publish(caller)

      await allEnded(healthy, 'delivered')
      expect(slow.endpoint.answered).toBeLessThan(EVENTS)
      expect([...healthy.endpoint.requests.values()]).toEqual(Array(EVENTS).fill(1))

      // Instead of the clock, the times are moved at which deliveries are due.
      for (const [index, wait] of retries.entries()) {
        await allFailed(failing, index + 1)
        await dispatcher.db.query(passTime, failing.id, wait * (1 + jitter))
      }
      await allEnded(failing, 'failed')
      expect([...failing.endpoint.requests.values()]).toEqual(Array(EVENTS).fill(retries.length + 1))
      const waits = await waitsOf(dispatcher.db, failing.id)
      expect(waits.map(({ failures, count }) => [failures, count])).toEqual(retries.map((_, at) => [at + 1, EVENTS]))
      expectSchedule(waits)

      await waitFor(() => slow.endpoint.answered > 2 * inFlight, { what: 'answers of the slow one', timeout: TIMEOUT })
      expect(slow.endpoint.mostOpen).toBe(inFlight)
      const first = (await waitsOf(dispatcher.db, slow.id)).slice(0, 1)
      expect(first).toHaveLength(1)
      expectSchedule(first)
      slow.endpoint.behave({ status: 200 })
      await waitFor(
        async () => {
          await dispatcher.db.query(passTime, slow.id, LONGEST_WAIT_MS)
          return slow.endpoint.requests.size === EVENTS
        },
        { what: 'every event at the slow one', timeout: TIMEOUT, interval: byLength({ short: 200, long: 5_000 }) },
      )
      await allEnded(slow, 'delivered')
      expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
    },
    2 * TIMEOUT,
  )
})
