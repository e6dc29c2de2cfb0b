import { sql } from '@restante/service/database'
import { callerOf, verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
import { Subscription } from './subscription.ts'

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

const requests = (count: number) =>
  waitFor(() => receiver.requests.length >= count && receiver.requests, { what: `${count} requests` })
const nothingRemains = () =>
  waitFor(async () => (await dispatcher.remains()).deliveries === 0, { what: 'every delivery to end' })
const setAttempts = sql<unknown, [webhookId: string, attempts: number]>(
  'update deliveries set attempts = $2 where webhook_id = $1',
)
const pointElsewhere = sql<unknown, [webhookId: string, record: string | null]>(
  'update delivery_log set record = $2 where webhook_id = $1',
)

/** A webhook with one delivery that was acknowledged. */
async function acknowledged() {
  const own = await Subscription.make(dispatcher, receiver)
  const [event] = await own.receive()
  const [delivery] = await own.logged(1, 'delivered')
  if (!event || !delivery) throw new Error('nothing was delivered')
  return { own, event, id: delivery.delivery_id }
}

const CONFLICT = { status: 409, body: { code: 'conflict', fix: expect.any(String) } }

describe('webhooks.retryDelivery', () => {
  it('sends an acknowledged delivery again, with the same id and bytes and a valid signature', async () => {
    const { own, event, id } = await acknowledged()
    expect(await own.retry(id)).toMatchObject({
      status: 200,
      body: { delivery_id: id, webhook_id: own.id, state: 'retrying', event_id: event.id },
    })
    const [first, second] = await requests(2)
    expect(second?.headers['svix-id']).toBe(id)
    expect(second?.body).toBe(first?.body)
    expect(second && verifyWebhook(own.secret, second)).toEqual(event.payload)
    const [logged] = await own.logged(1, 'delivered')
    expect(logged?.attempts).toHaveLength(2)
    await nothingRemains()
    expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
  })

  it('sends a delivery that was given up, and retries it like a new one', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    receiver.always(500)
    await own.receive()
    await own.logged(1, 'retrying')
    await dispatcher.db.query(setAttempts, own.id, 7)
    await dispatcher.hurry()
    const [failed] = await own.logged(1, 'failed')
    expect(await own.retry(failed?.delivery_id ?? '')).toMatchObject({ status: 200 })
    await requests(3)
    const [again] = await own.logged(1, 'retrying')
    expect(again).toMatchObject({ delivery_id: failed?.delivery_id, next_attempt_at: expect.any(String) })
  })

  it('makes a delivery that is retried anyway due now', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    receiver.always(500)
    await own.receive()
    const [delivery] = await own.logged(1, 'retrying')
    receiver.always(200)
    await dispatcher.db.query(
      sql<unknown>(`update timers set due_at = now() + interval '1 hour' where kind = 'webhook-delivery'`),
    )
    expect(await own.retry(delivery?.delivery_id ?? '')).toMatchObject({ status: 200, body: { state: 'retrying' } })
    await own.logged(1, 'delivered')
    expect(receiver.requests).toHaveLength(2)
  })

  it('makes one delivery of many requests at once', async () => {
    const { own, id } = await acknowledged()
    receiver.always('silence')
    const answers = await Promise.all(Array.from({ length: 5 }, () => own.retry(id)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await requests(2)
    expect((await dispatcher.remains()).deliveries).toBe(1)
    receiver.release(200)
    await nothingRemains()
    expect(receiver.requests).toHaveLength(2)
  })

  it('is refused for a deleted message, and sends nothing of it', async () => {
    const { own, event, id } = await acknowledged()
    dispatcher.mail.deleted.add(event.subject)
    expect(await own.retry(id)).toMatchObject(CONFLICT)
    expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
    expect(receiver.requests).toHaveLength(1)
  })

  it('sends nothing of a message that is deleted between the attempts', async () => {
    const { own, event, id } = await acknowledged()
    receiver.always(500)
    await own.retry(id)
    await own.logged(1, 'retrying')
    await requests(2)
    dispatcher.mail.deleted.add(event.subject)
    await dispatcher.hurry()
    const [dropped] = await own.logged(1, 'dropped')
    expect(dropped).not.toHaveProperty('next_attempt_at')
    expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
    expect(receiver.requests).toHaveLength(2)
  })

  it('is refused for a message of a deleted inbox, though its mailbox has not heard of that', async () => {
    const { own, id } = await acknowledged()
    await dispatcher.gateway.request(own.tenant.key, 'DELETE', `/v0/inboxes/${own.scope.address}`)
    expect(await own.retry(id)).toMatchObject(CONFLICT)
    expect(receiver.requests).toHaveLength(1)
  })

  it('is refused when Kafka does not keep the event', async () => {
    const { own, id } = await acknowledged()
    for (const record of ['mail.messages/0/999999', 'mail.messages/77/0', null]) {
      await dispatcher.db.query(pointElsewhere, own.id, record)
      expect(await own.retry(id)).toMatchObject(CONFLICT)
    }
  })

  it('is refused when Kafka keeps another event in its place', async () => {
    const [{ own, id }, other] = [await acknowledged(), await acknowledged()]
    const [row] = await dispatcher.db.query(
      sql<{ record: string | null }, [id: string]>('select record from delivery_log where webhook_id = $1'),
      other.own.id,
    )
    await dispatcher.db.query(pointElsewhere, own.id, row?.record ?? null)
    expect(await own.retry(id)).toMatchObject(CONFLICT)
  })

  it('is refused for a disabled webhook', async () => {
    const { own, id } = await acknowledged()
    await own.change({ enabled: false })
    expect(await own.retry(id)).toMatchObject({ ...CONFLICT, body: { fix: expect.stringContaining('enabled') } })
  })

  it('is refused for a test event, of which another one can be sent', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    await dispatcher.request('webhooks.test', own.caller, 'POST', `/webhooks/${own.id}/test`, {})
    const [delivery] = await own.logged(1, 'delivered')
    expect(await own.retry(delivery?.delivery_id ?? '')).toMatchObject(CONFLICT)
  })

  it('is 404 for another organization, another webhook, and an unknown delivery', async () => {
    const [{ own, id }, other] = [await acknowledged(), await acknowledged()]
    expect(await own.retry(id, callerOf())).toMatchObject({ status: 404, body: { message: 'Webhook not found' } })
    expect(await own.retry(other.id)).toMatchObject({ status: 404, body: { message: 'Delivery not found' } })
    expect(await own.retry(`msg_${'0'.repeat(27)}`)).toMatchObject({ status: 404 })
  })

  it('sends nothing after a take-over whose event is held back: to no key, and not to the operator', async () => {
    const { own, id } = await acknowledged()
    receiver.always('silence')
    await own.retry(id)
    await requests(2)
    const body = { organization_id: own.tenant.id, take_overs: 1 }
    expect(await dispatcher.internal('webhooks-dispatcher.endWebhooks', body)).toMatchObject({ status: 200 })
    receiver.release(500)
    expect(await own.retry(id)).toMatchObject({ status: 401 })
    expect(await own.retry(id, { ...own.caller, take_overs: 1 })).toMatchObject({ status: 404 })
    const range = { from: new Date(0).toISOString(), to: new Date().toISOString(), dry_run: false }
    const replay = { webhook_id: own.id, ...range, operator: 'tester' }
    expect((await dispatcher.internal('webhooks-dispatcher.replayRange', replay)).body).toHaveProperty('refused')
    await nothingRemains()
    await dispatcher.hurry()
    expect(receiver.requests).toHaveLength(2)
  })
})
