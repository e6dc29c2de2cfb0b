import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import type { Webhook } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import {
  callerOf,
  type InboxScope,
  inboxScope,
  receivedEvent,
  verifyWebhook,
  WebhookReceiver,
  type WebhookRequest,
  waitFor,
} from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'

let dispatcher: TestDispatcher
let receiver: WebhookReceiver
beforeAll(async () => {
  dispatcher = await startDispatcher()
})
afterAll(() => dispatcher.stop())
beforeEach(async () => {
  receiver = await new WebhookReceiver().start()
})
afterEach(async () => {
  await dispatcher.clear()
  await receiver.stop()
})

interface Subscribed {
  readonly caller: Caller
  readonly scope: InboxScope
  readonly webhook: Webhook
}

/** A new organization with a webhook that leads to the receiver, and one of its inboxes. */
async function subscribe(more: Record<string, unknown> = {}): Promise<Subscribed> {
  const caller = callerOf()
  const webhook = await dispatcher.webhook(caller, { url: receiver.url, event_types: ['message.received'], ...more })
  return { caller, webhook, scope: inboxScope({ organizationId: caller.organization_id }) }
}

function publish(...events: Parameters<TestDispatcher['events']['publish']>[1][]): Promise<void> {
  return dispatcher.events.publish(topics['mail.messages'], ...events)
}

function requests(count: number): Promise<WebhookRequest[]> {
  return waitFor(() => receiver.requests.length >= count && receiver.requests, { what: `${count} requests` })
}

function header(request: WebhookRequest | undefined, name: string): string {
  return String(request?.headers[name])
}

const selectDelivery = sql<{ id: string; attempts: number }, [webhookId: string]>(
  'select id, attempts from deliveries where webhook_id = $1',
)
const setAttempts = sql<unknown, [webhookId: string, attempts: number]>(
  'update deliveries set attempts = $2 where webhook_id = $1',
)
const selectWebhook = sql<
  { enabled: boolean; failing_since: Date | null; clock_started_at: Date | null },
  [webhookId: string]
>('select enabled, failing_since, clock_started_at from webhooks where id = $1')
const setClock = sql<unknown, [webhookId: string, days: number]>(
  `update webhooks set failing_since = now() - interval '1 day' * ($2 + 1), clock_started_at = now() - interval '1 day' * $2,
     warned_at = now() - interval '1 day' * $2 / 2 where id = $1`,
)
const setEnabled = sql<unknown, [webhookId: string, enabled: boolean]>(
  'update webhooks set enabled = $2, active_since = now() where id = $1',
)

async function deliveriesOf({ webhook }: Subscribed) {
  return dispatcher.db.query(selectDelivery, webhook.webhook_id)
}

async function stateOf({ webhook }: Subscribed) {
  const [row] = await dispatcher.db.query(selectWebhook, webhook.webhook_id)
  if (!row) throw new Error('the webhook is gone')
  return row
}

/** No rows remain of deliveries that have ended, least of all content. */
function nothingRemains(): Promise<unknown> {
  return waitFor(
    async () => {
      expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
      return true
    },
    { what: 'deliveries to leave no rows' },
  )
}

function attempted(subscribed: Subscribed, attempts: number): Promise<unknown> {
  return waitFor(async () => (await deliveriesOf(subscribed))[0]?.attempts === attempts, {
    what: `failed attempt ${attempts} to be counted`,
  })
}

describe('a delivery', () => {
  it('carries the document byte for byte, signed, with both header families and the custom headers', async () => {
    const { webhook, scope } = await subscribe({ headers: { 'X-Own': 'yes', Authorization: 'Bearer mine' } })
    const event = receivedEvent(scope, { text: 'Grüße ✓' })
    await publish(event)
    const [request] = await requests(1)
    expect(request?.body).toBe(JSON.stringify(event.payload))
    if (request) expect(verifyWebhook(webhook.secret, request)).toEqual(event.payload)
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'svix-id': expect.stringMatching(/^msg_[0-9A-Za-z]{27}$/),
      'user-agent': expect.stringMatching(/^Restante\//),
      'x-own': 'yes',
      authorization: 'Bearer mine',
    })
    for (const name of ['id', 'timestamp', 'signature'])
      expect(header(request, `webhook-${name}`)).toBe(header(request, `svix-${name}`))
    await nothingRemains()
  })

  it('is made once although both filters match, and only for the subscribed types', async () => {
    const caller = callerOf()
    const scope = inboxScope({ organizationId: caller.organization_id })
    const pod = { ...caller, pod_id: scope.podId, credential: { ...caller.credential, tier: 'pod' as const } }
    const webhook = await dispatcher.webhook(pod, { url: receiver.url, event_types: ['message.received'] })
    const addInbox = sql<unknown, [string, string, string]>(
      'update webhooks set inbox_uids = array[$2::uuid], inbox_ids = array[$3] where id = $1',
    )
    await dispatcher.db.query(addInbox, webhook.webhook_id, scope.inboxUid, scope.address)
    await publish(receivedEvent(scope, { labels: ['spam'] }), receivedEvent(scope))
    await requests(1)
    await nothingRemains()
    expect(receiver.requests.map(({ body }) => JSON.parse(body).event_type)).toEqual(['message.received'])
  })

  it('keeps a mail with restricted labels from a webhook that may not see all of them', async () => {
    const caller = callerOf()
    const types = ['message.received.blocked']
    const key = (permissions: string[]) => ({ ...caller, credential: { ...caller.credential, permissions } })
    const create = (permissions: string[], path: string) =>
      dispatcher.webhook(key(['webhook_create', ...permissions]), { url: receiver.url + path, event_types: types })
    await create(['label_blocked_read'], '/blocked')
    await create(['label_blocked_read', 'label_spam_read'], '/both')
    const scope = inboxScope({ organizationId: caller.organization_id })
    await publish(receivedEvent(scope, { labels: ['spam', 'blocked'] }))
    await requests(1)
    await nothingRemains()
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook/both'])
  })
})

describe('a failed webhook attempt', () => {
  it('is retried with the same id and bytes, a new timestamp and a valid signature (500, 500, 200)', async () => {
    const subscribed = await subscribe()
    receiver.script(500, 500)
    await publish(receivedEvent(subscribed.scope))
    const [first] = await requests(1)
    const second = await waitFor(() => receiver.requests[1], { what: 'the attempt after 5 s' })
    const waited = second.receivedAt.getTime() - (first?.receivedAt.getTime() ?? 0)
    expect(waited).toBeGreaterThanOrEqual(5_000)
    await attempted(subscribed, 2)
    await waitFor(() => Date.now() / 1000 > Number(header(second, 'svix-timestamp')) + 1, { what: 'the next second' })
    await dispatcher.hurry()
    const all = await requests(3)
    expect(new Set(all.map((request) => header(request, 'svix-id'))).size).toBe(1)
    expect(new Set(all.map(({ body }) => body)).size).toBe(1)
    expect(new Set(all.map((request) => header(request, 'svix-timestamp'))).size).toBe(3)
    for (const request of all) verifyWebhook(subscribed.webhook.secret, request)
    await nothingRemains()
    expect(receiver.requests).toHaveLength(3)
  })

  it('is counted for a redirect, whose target is not contacted', async () => {
    const target = await new WebhookReceiver().start()
    const subscribed = await subscribe()
    receiver.always({ status: 302, headers: { location: target.url } })
    await publish(receivedEvent(subscribed.scope))
    await attempted(subscribed, 1)
    expect(target.requests).toEqual([])
    await target.stop()
  })

  it.each([
    ['a broken connection', 'hang-up' as const],
    ['410', 410],
    ['404', 404],
  ])('is counted for %s', async (_what, answer) => {
    const subscribed = await subscribe()
    receiver.always(answer)
    await publish(receivedEvent(subscribed.scope))
    await attempted(subscribed, 1)
  })

  it('is the last one when it is the eighth: the delivery is given up and its document deleted', async () => {
    const subscribed = await subscribe()
    receiver.always(503)
    await publish(receivedEvent(subscribed.scope))
    await attempted(subscribed, 1)
    await dispatcher.db.query(setAttempts, subscribed.webhook.webhook_id, LIMITS.webhook.retries.length)
    await dispatcher.hurry()
    await waitFor(async () => (await deliveriesOf(subscribed)).length === 0, { what: 'the delivery to be given up' })
    expect(await stateOf(subscribed)).toMatchObject({ enabled: true, failing_since: expect.any(Date) })
  })
})

describe('the failure clock', () => {
  it('disables a webhook after five days of failures, drops its pending deliveries, and adds none', async () => {
    const subscribed = await subscribe()
    receiver.always(500)
    await publish(receivedEvent(subscribed.scope))
    await attempted(subscribed, 1)
    await dispatcher.db.query(setClock, subscribed.webhook.webhook_id, 6)
    await publish(receivedEvent(subscribed.scope))
    await waitFor(async () => !(await stateOf(subscribed)).enabled, { what: 'the webhook to be disabled' })
    expect(await deliveriesOf(subscribed)).toEqual([])
    await publish(receivedEvent(subscribed.scope))
    await dispatcher.hurry()
    await nothingRemains()
    expect(receiver.requests).toHaveLength(2)
    const { body } = await dispatcher.request(
      'webhooks.get',
      subscribed.caller,
      'GET',
      `/webhooks/${subscribed.webhook.webhook_id}`,
    )
    expect(body['enabled']).toBe(false)
    expect(body['updated_at']).not.toBe(subscribed.webhook.updated_at)
  })

  it('is stopped by any success', async () => {
    const subscribed = await subscribe()
    await dispatcher.db.query(setClock, subscribed.webhook.webhook_id, 6)
    await publish(receivedEvent(subscribed.scope))
    await waitFor(async () => (await stateOf(subscribed)).clock_started_at === null, { what: 'the clock to stop' })
    expect(await stateOf(subscribed)).toEqual({ enabled: true, failing_since: null, clock_started_at: null })
  })
})

describe('a webhook that is disabled', () => {
  it('gets no retry of pending deliveries, and none of them is kept', async () => {
    const subscribed = await subscribe()
    receiver.always(500)
    await publish(receivedEvent(subscribed.scope))
    await attempted(subscribed, 1)
    await dispatcher.db.query(setEnabled, subscribed.webhook.webhook_id, false)
    await dispatcher.hurry()
    await nothingRemains()
    expect(receiver.requests).toHaveLength(1)
  })

  it('never gets events from while it was disabled; once enabled it gets new ones', async () => {
    const subscribed = await subscribe()
    await dispatcher.db.query(setEnabled, subscribed.webhook.webhook_id, false)
    const watcher = await dispatcher.webhook(subscribed.caller, {
      url: `${receiver.url}/watch`,
      event_types: ['message.received'],
    })
    const [missed, fresh] = [receivedEvent(subscribed.scope), receivedEvent(subscribed.scope)]
    await publish(missed)
    await receiver.next(({ path }) => path === '/hook/watch', { what: 'the event to have been recorded' })
    await dispatcher.db.query(setEnabled, subscribed.webhook.webhook_id, true)
    await publish(fresh)
    const [got] = await waitFor(
      () => {
        const own = receiver.requests.filter(({ path }) => path === '/hook')
        return own.length > 0 && own
      },
      { what: 'the new event' },
    )
    expect(JSON.parse(got?.body ?? '{}').event_id).toBe(fresh.id)
    expect(watcher.enabled).toBe(true)
    await nothingRemains()
    expect(receiver.requests).toHaveLength(3)
  })
})
