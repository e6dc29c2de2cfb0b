import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import type { WebhookDelivery } from '@restante/contracts/resources'
import { sql } from '@restante/service/database'
import { callerOf, inboxScope, receivedEvent, verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import { sweep } from '../../src/log/sweeper.ts'
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

async function subscribe(caller: Caller = callerOf()) {
  const { webhook_id: id, secret } = await dispatcher.webhook(caller, {
    url: receiver.url,
    event_types: ['message.received'],
  })
  const scope = inboxScope({ organizationId: caller.organization_id })
  const publish = () => dispatcher.events.publish(topics['mail.messages'], receivedEvent(scope))
  return { caller, id, secret, publish }
}

interface Page {
  readonly deliveries: WebhookDelivery[]
  readonly count: number
  readonly next_page_token?: string
}

async function log(caller: Caller, id: string, query = ''): Promise<Page> {
  const target = `/webhooks/${id}/deliveries${query}`
  const { status, body } = await dispatcher.request('webhooks.listDeliveries', caller, 'GET', target)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { deliveries: [], count: 0, ...body }
}

function logged(caller: Caller, id: string, are: (deliveries: readonly WebhookDelivery[]) => boolean): Promise<Page> {
  return waitFor(
    async () => {
      const page = await log(caller, id)
      return are(page.deliveries) && page
    },
    { what: 'the log to show the deliveries' },
  )
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const age = sql<unknown, [id: string, days: number]>(
  `update delivery_log set created_at = created_at - $2 * interval '1 day' where webhook_id = $1`,
)
const countOf = sql<{ count: number }, [id: string]>(
  'select count(*)::int as count from delivery_log where webhook_id = $1',
)

describe('the delivery log', () => {
  it('shows an acknowledged delivery with its attempt, and nothing of its content', async () => {
    const { caller, id, publish } = await subscribe()
    await publish()
    const { deliveries } = await logged(caller, id, (all) => all.length === 1)
    const { event_id } = JSON.parse(receiver.requests[0]?.body ?? '{}')
    expect(deliveries).toEqual([
      {
        delivery_id: receiver.requests[0]?.headers['svix-id'],
        webhook_id: id,
        event_id,
        event_type: 'message.received',
        state: 'delivered',
        attempts: [
          {
            attempted_at: expect.stringMatching(TIME),
            latency_ms: expect.any(Number),
            http_status: expect.any(Number),
          },
        ],
        created_at: expect.stringMatching(TIME),
      },
    ])
  })

  it('adds each attempt, with the time of the next one', async () => {
    const { caller, id, publish } = await subscribe()
    receiver.always(500)
    await publish()
    const { deliveries } = await logged(caller, id, ([first]) => first?.attempts.length === 1)
    expect(deliveries[0]).toMatchObject({
      state: 'retrying',
      attempts: [{ http_status: 500, error: 'status' }],
      next_attempt_at: expect.stringMatching(TIME),
    })
    receiver.always(204)
    await dispatcher.hurry()
    const after = await logged(caller, id, ([first]) => first?.state === 'delivered')
    expect(after.deliveries[0]?.attempts).toEqual([
      expect.objectContaining({ http_status: 500 }),
      { attempted_at: expect.stringMatching(TIME), latency_ms: expect.any(Number), http_status: 204 },
    ])
    expect(after.deliveries[0]).not.toHaveProperty('next_attempt_at')
  })

  it('shows what is dropped when the webhook is disabled', async () => {
    const { caller, id, publish } = await subscribe()
    receiver.always(500)
    await publish()
    await logged(caller, id, ([first]) => first?.state === 'retrying')
    await dispatcher.request('webhooks.update', caller, 'PATCH', `/webhooks/${id}`, { enabled: false })
    const [dropped] = (await log(caller, id)).deliveries
    expect(dropped).toMatchObject({ state: 'dropped', attempts: [{ http_status: 500 }] })
    expect(dropped).not.toHaveProperty('next_attempt_at')
  })

  it('is read a page at a time, in both orders, and only within its scope', async () => {
    const { caller, id, publish } = await subscribe()
    for (let index = 0; index < 5; index++) await publish()
    await logged(caller, id, (all) => all.length === 5)
    const all = (await log(caller, id)).deliveries.map(({ delivery_id }) => delivery_id)
    for (const [order, expected] of [
      ['', all],
      ['&ascending=true', all.toReversed()],
    ] as const) {
      const first = await log(caller, id, `?limit=3${order}`)
      const second = await log(caller, id, `?limit=3${order}&page_token=${first.next_page_token}`)
      expect([...first.deliveries, ...second.deliveries].map(({ delivery_id }) => delivery_id)).toEqual(expected)
      expect(second).not.toHaveProperty('next_page_token')
    }
    const stranger = await dispatcher.request(
      'webhooks.listDeliveries',
      callerOf(),
      'GET',
      `/webhooks/${id}/deliveries`,
    )
    expect(stranger).toMatchObject({ status: 404, body: { message: 'Webhook not found' } })
  })

  it('keeps 30 days, and nothing of a webhook that is deleted', async () => {
    const [old, deleted, kept] = [await subscribe(), await subscribe(), await subscribe()]
    for (const each of [old, deleted, kept]) {
      await each.publish()
      await logged(each.caller, each.id, (all) => all.length === 1)
    }
    await dispatcher.db.query(age, old.id, 31)
    await dispatcher.db.query(age, kept.id, 29)
    await dispatcher.request('webhooks.delete', deleted.caller, 'DELETE', `/webhooks/${deleted.id}`)
    await sweep(dispatcher.db, new AbortController().signal)
    const counts = await Promise.all([old, deleted, kept].map(({ id }) => dispatcher.db.query(countOf, id)))
    expect(counts.map(([row]) => row?.count)).toEqual([0, 0, 1])
    expect(await dispatcher.db.query(sql<{ id: string }>('select id from ended_webhooks'))).toEqual([])
  })
})

describe('webhooks.test', () => {
  const test = (caller: Caller, id: string) =>
    dispatcher.request('webhooks.test', caller, 'POST', `/webhooks/${id}/test`)

  it('sends a signed event of its own type, which the log shows', async () => {
    const { caller, id, secret } = await subscribe()
    const { status, body } = await test(caller, id)
    expect(status).toBe(200)
    const [request] = await waitFor(() => receiver.requests.length > 0 && receiver.requests, { what: 'the test event' })
    expect(request?.headers['svix-id']).toBe(body['delivery_id'])
    expect(request && verifyWebhook(secret, request)).toEqual({
      type: 'event',
      event_type: 'webhook.test',
      event_id: body['event_id'],
      webhook_id: id,
      created_at: expect.stringMatching(TIME),
    })
    const { deliveries } = await logged(caller, id, (all) => all.length === 1)
    expect(deliveries[0]).toMatchObject({ delivery_id: body['delivery_id'], event_type: 'webhook.test' })
  })

  it('needs a webhook of its scope that is enabled', async () => {
    const { caller, id } = await subscribe()
    expect(await test(callerOf(), id)).toMatchObject({ status: 404 })
    await dispatcher.request('webhooks.update', caller, 'PATCH', `/webhooks/${id}`, { enabled: false })
    expect(await test(caller, id)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(await dispatcher.remains()).toMatchObject({ deliveries: 0 })
  })
})
