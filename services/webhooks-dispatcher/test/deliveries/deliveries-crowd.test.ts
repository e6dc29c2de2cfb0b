import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { callerOf, type InboxScope, inboxScope, receivedEvent, WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'

let dispatcher: TestDispatcher
beforeAll(async () => {
  dispatcher = await startDispatcher()
})
afterAll(() => dispatcher.stop())

const receivers: WebhookReceiver[] = []
afterEach(async () => {
  await dispatcher.clear()
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()))
})

async function receive(): Promise<WebhookReceiver> {
  const receiver = await new WebhookReceiver().start()
  receivers.push(receiver)
  return receiver
}

async function subscribe(caller: Caller, receiver: WebhookReceiver): Promise<string> {
  const made = await dispatcher.webhook(caller, { url: receiver.url, event_types: ['message.received'] })
  return made.webhook_id
}

function scopeOf(caller: Caller): InboxScope {
  return inboxScope({ organizationId: caller.organization_id })
}

async function publish(scope: InboxScope, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => receivedEvent(scope))
  await dispatcher.events.publish(topics['mail.messages'], ...events)
}

const countDeliveries = sql<{ count: number }, [webhookId: string]>(
  'select count(*)::int as count from deliveries where webhook_id = $1',
)

/** Three quarters of DELIVERY_CONCURRENCY. */
const MOST_OF_ORGANIZATION = 37

const lockClock = sql<unknown, [webhookId: string]>('select 1 from webhooks where id = $1 for no key update')

function nothingRemains(): Promise<unknown> {
  return waitFor(
    async () => {
      expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
      return true
    },
    { what: 'nothing to remain' },
  )
}

describe('a receiver that does not answer', () => {
  it('gets at most ten concurrent requests and does not delay others', async () => {
    const caller = callerOf()
    const [slow, quick] = [await receive(), await receive()]
    slow.always('silence')
    const slowId = await subscribe(caller, slow)
    await subscribe(caller, quick)
    await publish(scopeOf(caller), 60)
    await waitFor(() => quick.requests.length === 60, { what: 'the quick receiver to have everything' })
    await waitFor(() => slow.requests.length === LIMITS.webhook.inFlight, { what: 'ten requests at the slow one' })
    // More events, which overtake the waiting ones.
    await publish(scopeOf(caller), 5)
    await waitFor(() => quick.requests.length === 65, { what: 'the later events' })
    expect(slow.requests).toHaveLength(LIMITS.webhook.inFlight)
    expect((await dispatcher.db.query(countDeliveries, slowId))[0]?.count).toBe(65)
  })
})

describe('an organization with many webhooks of a receiver that does not answer', () => {
  it('delays none of another organization', async () => {
    const [slow, quick] = [await receive(), await receive()]
    slow.always('silence')
    const [caller, other] = [callerOf(), callerOf()]
    for (let webhook = 0; webhook < 12; webhook++) await subscribe(caller, slow)
    await subscribe(other, quick)
    await publish(scopeOf(caller), 12)
    // More than the organization may have, and than there are workers of either kind, would be 120.
    await waitFor(() => slow.requests.length >= MOST_OF_ORGANIZATION, { what: 'as many requests as it may have' })
    await publish(scopeOf(other), 30)
    await waitFor(() => quick.requests.length === 30, { what: 'the events of the other organization' })
    expect(slow.requests).toHaveLength(MOST_OF_ORGANIZATION)
  })
})

describe('a webhook all of whose attempts fail', () => {
  it('does not delay others, even while its failures cannot be counted', async () => {
    const [failing, healthy] = [await receive(), await receive()]
    failing.always(500)
    const [caller, other] = [callerOf(), callerOf()]
    const failingId = await subscribe(caller, failing)
    await subscribe(other, healthy)
    // What every failed attempt of the webhook waits for.
    await dispatcher.db.transaction(async (tx) => {
      await tx.query(lockClock, failingId)
      await publish(scopeOf(caller), 80)
      await waitFor(() => failing.requests.length === LIMITS.webhook.inFlight, { what: 'ten requests' })
      await publish(scopeOf(caller), 5)
      await publish(scopeOf(other), 5)
      await waitFor(() => healthy.requests.length === 5, { what: 'the events of the other webhook' })
      expect(failing.requests).toHaveLength(LIMITS.webhook.inFlight)
    })
    await waitFor(() => failing.requests.length >= 85, { what: 'the attempts to go on' })
  })
})

describe('a burst of more events than a webhook may have requests', () => {
  it('reaches the receiver in full, each event once', async () => {
    const caller = callerOf()
    const receiver = await receive()
    await subscribe(caller, receiver)
    await publish(scopeOf(caller), 80)
    await waitFor(() => receiver.requests.length >= 80, { what: 'every event' })
    await nothingRemains()
    expect(new Set(receiver.requests.map(({ headers }) => headers['svix-id'])).size).toBe(80)
    expect(receiver.requests).toHaveLength(80)
  })
})

describe('a webhook that is deleted during a request', () => {
  it('gets nothing more, and leaves no rows', async () => {
    const caller = callerOf()
    const receiver = await receive()
    receiver.always('silence')
    const webhook = await subscribe(caller, receiver)
    await publish(scopeOf(caller), 1)
    await waitFor(() => receiver.requests.length === 1, { what: 'the request' })
    const { status } = await dispatcher.request('webhooks.delete', caller, 'DELETE', `/webhooks/${webhook}`)
    expect(status).toBe(204)
    // The receiver breaks the connection: a failure for a webhook that no longer exists.
    await receiver.stop()
    await nothingRemains()
    expect(receiver.requests).toHaveLength(1)
  })

  it('leaves no document when many are deleted while events arrive', async () => {
    const callers = Array.from({ length: 6 }, () => callerOf())
    const receiver = await receive()
    const webhooks = await Promise.all(callers.map((caller) => subscribe(caller, receiver)))
    const flood = Promise.all(callers.map((caller) => publish(scopeOf(caller), 20)))
    await waitFor(() => receiver.requests.length > 0, { what: 'the first request' })
    await Promise.all(
      webhooks.map((id, index) =>
        dispatcher.request('webhooks.delete', callers[index] ?? callerOf(), 'DELETE', `/webhooks/${id}`),
      ),
    )
    await flood
    await waitFor(
      async () => {
        await dispatcher.hurry()
        expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
        return true
      },
      { what: 'nothing to remain' },
    )
  })
})
