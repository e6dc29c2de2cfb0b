import { topics } from '@restante/contracts/events'
import { sql } from '@restante/service/database'
import { callerOf, inboxScope, receivedEvent, WebhookReceiver, waitFor } from '@restante/testkit'
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

const addPayloads = sql<unknown, [count: number]>(
  `insert into payloads (event_id, body) select gen_random_uuid(), '{}' from generate_series(1, $1::int)`,
)
const addDeliveries = sql<unknown, [webhookId: string]>(
  `insert into deliveries (id, webhook_id, event_id, event_type) select 'msg_' || event_id, $1, event_id, 'message.received' from payloads`,
)
const addLog = sql<unknown>(
  `insert into delivery_log (id, webhook_id, event_id, event_type, created_at, state, attempts, next_attempt_at)
   select id, webhook_id, event_id, event_type, created_at, 'retrying', '[]', now() from deliveries`,
)
const countStates = sql<{ state: string; count: number }>(
  'select state, count(*)::int as count from delivery_log group by state',
)
const lockLast = sql<unknown>('select 1 from payloads order by event_id desc limit 1 for update')
const isEnabled = sql<{ enabled: boolean }>('select enabled from webhooks')

describe('a webhook with thousands of pending deliveries', () => {
  const caller = callerOf()
  const wanted = () => ({ url: receiver.url, event_types: ['message.received'] })
  async function withPending(count: number): Promise<string> {
    const { webhook_id } = await dispatcher.webhook(caller, wanted())
    await dispatcher.db.query(addPayloads, count)
    await dispatcher.db.query(addDeliveries, webhook_id)
    await dispatcher.db.query(addLog)
    return webhook_id
  }
  const change = (id: string, body: unknown) =>
    dispatcher.request('webhooks.update', caller, 'PATCH', `/webhooks/${id}`, body)

  it('drops all of them, in its log too, when it is disabled', async () => {
    const id = await withPending(5_001)
    expect(await change(id, { enabled: false })).toMatchObject({ status: 200, body: { enabled: false } })
    expect(await dispatcher.remains()).toMatchObject({ deliveries: 0, payloads: 0 })
    expect(await dispatcher.db.query(countStates)).toEqual([{ state: 'dropped', count: 5_001 }])
  })

  it('is disabled long before the last of them is dropped, and sends none of them when it is enabled then', async () => {
    const id = await withPending(5_001)
    let disabling: Promise<unknown> | undefined
    let enabling: Promise<unknown> | undefined
    await dispatcher.db.transaction(async (tx) => {
      await tx.query(lockLast)
      disabling = change(id, { enabled: false })
      await waitFor(async () => (await dispatcher.db.query(isEnabled))[0]?.enabled === false, { what: 'disabling' })
      enabling = change(id, { enabled: true })
    })
    await disabling
    expect(await enabling).toMatchObject({ status: 200, body: { enabled: true } })
    expect(await dispatcher.remains()).toMatchObject({ deliveries: 0, payloads: 0 })
    const event = receivedEvent(inboxScope({ organizationId: caller.organization_id }))
    await dispatcher.events.publish(topics['mail.messages'], event)
    await waitFor(() => receiver.requests.length === 1, { what: 'the next event' })
  })

  it('is deleted with all of them', async () => {
    const id = await withPending(5_001)
    expect(await dispatcher.request('webhooks.delete', caller, 'DELETE', `/webhooks/${id}`)).toMatchObject({
      status: 204,
    })
    expect(await dispatcher.remains()).toMatchObject({ deliveries: 0, payloads: 0 })
  })
})
