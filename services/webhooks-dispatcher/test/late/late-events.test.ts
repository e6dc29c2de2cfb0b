import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { callerOf, inboxScope, receivedEvent, WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'

/** Requests at once: as many as two webhooks may have. */
const CONCURRENCY = 2 * LIMITS.webhook.inFlight
const LATE = 500

let dispatcher: TestDispatcher
beforeAll(async () => {
  dispatcher = await startDispatcher({ DELIVERY_CONCURRENCY: String(CONCURRENCY) })
})
afterAll(() => dispatcher.stop())

const receivers: WebhookReceiver[] = []
afterEach(async () => {
  await dispatcher.clear()
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()))
})

async function subscribed(caller: Caller): Promise<WebhookReceiver> {
  const receiver = await new WebhookReceiver().start()
  receivers.push(receiver)
  await dispatcher.webhook(caller, { url: receiver.url, event_types: ['message.received'] })
  return receiver
}

function eventsOf(caller: Caller, count: number) {
  const scope = inboxScope({ organizationId: caller.organization_id })
  return Array.from({ length: count }, () => receivedEvent(scope))
}

const countDeliveries = sql<{ count: number }, [organizationId: string]>(
  `select count(*)::int as count from deliveries d join webhooks w on w.id = d.webhook_id where w.organization_id = $1`,
)
async function deliveriesOf({ organization_id }: Caller): Promise<number> {
  return (await dispatcher.db.query(countDeliveries, organization_id))[0]?.count ?? 0
}

/** Publishes fresh events until one has become a delivery: when the dispatcher begins to read ahead is its own matter. */
async function publishUntilDue(caller: Caller): Promise<number> {
  let published = 0
  const isDue = async () => {
    await dispatcher.events.publish(topics['mail.messages'], ...eventsOf(caller, 1))
    published++
    return (await deliveriesOf(caller)) > 0
  }
  await waitFor(isDue, { what: 'a fresh event to be a delivery' })
  return published
}

const idsOf = (receiver: WebhookReceiver) => new Set(receiver.requests.map(({ headers }) => headers['svix-id']))

describe('a dispatcher that is behind', () => {
  it('makes a delivery of a fresh event while most of the late ones still wait for theirs, and delivers each once', async () => {
    // One organization alone may not occupy every worker.
    const [crowd, other] = [[callerOf(), callerOf()], callerOf()]
    const [silent, quick] = [await Promise.all(crowd.map(subscribed)), await subscribed(other)]
    for (const receiver of silent) receiver.always('silence')
    await dispatcher.service.stop()
    const late = crowd.flatMap((caller) => eventsOf(caller, LATE))
    await dispatcher.lateEvents.publish(topics['mail.messages'], ...late)
    await dispatcher.start()
    const waits = () => silent.every(({ requests }) => requests.length >= LIMITS.webhook.inFlight)
    await waitFor(waits, { what: 'every worker to wait' })
    const fresh = await publishUntilDue(other)
    const begun = await Promise.all(crowd.map(deliveriesOf))
    expect(begun.reduce((sum, count) => sum + count)).toBeLessThan(late.length)
    for (const receiver of silent) receiver.always(200).release(200)
    const isDone = () => silent.every(({ taken }) => taken.length >= LATE)
    await waitFor(isDone, { what: 'the late events', timeout: 60_000 })
    await waitFor(() => quick.requests.length >= fresh, { what: 'the fresh events' })
    await waitFor(async () => (await dispatcher.remains()).timers === 0, { what: 'every delivery to end' })
    // Requests are not counted: one that is not answered in time is repeated.
    for (const { taken } of silent) expect([taken.length, new Set(taken).size]).toEqual([LATE, LATE])
    expect([quick.requests.length, idsOf(quick).size]).toEqual([fresh, fresh])
  })

  it('is not held up by a receiver of late events that does not answer', async () => {
    const [crowd, other] = [callerOf(), callerOf()]
    const [silent, quick] = [await subscribed(crowd), await subscribed(other)]
    silent.always('silence')
    await dispatcher.service.stop()
    const chunks = Array.from({ length: 5 }, () => [...eventsOf(crowd, 50), ...eventsOf(other, 50)])
    for (const events of chunks) await dispatcher.lateEvents.publish(topics['mail.messages'], ...events)
    await dispatcher.start()
    await waitFor(() => idsOf(quick).size === 250, { what: 'the late events of the other' })
    expect(silent.taken).toEqual([])
  })
})
