import { topics } from '@restante/contracts/events'
import { sql } from '@restante/service/database'
import { callerOf, inboxScope, Metrics, receivedEvent, WebhookReceiver, waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import { measureWebhooks } from '../../src/delivery/backlog.ts'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'

const AGE = sql<never>(`update deliveries set created_at = now() - interval '1 hour', attempts = 0`)

const read = async () => new Metrics(await register.metrics())
const measured = async (dispatcher: TestDispatcher) => {
  await measureWebhooks(dispatcher.db)
  return read()
}

describe('the metrics of webhooks', () => {
  let dispatcher: TestDispatcher
  let receiver: WebhookReceiver
  beforeAll(async () => {
    dispatcher = await startDispatcher()
    receiver = await new WebhookReceiver().start()
  })
  afterAll(async () => {
    await receiver.stop()
    await dispatcher.stop()
  })

  it('show the time to the first request, and tell deliveries that are new from those that are retried', async () => {
    const caller = callerOf()
    await dispatcher.webhook(caller, { url: receiver.url, event_types: ['message.received'] })
    receiver.always(500)
    const before = await read()
    await dispatcher.events.publish(
      topics['mail.messages'],
      receivedEvent(inboxScope({ organizationId: caller.organization_id })),
    )
    const isRetried = async () =>
      (await measured(dispatcher)).value('restante_webhook_queue_waiting', { state: 'retrying' }) === 1
    await waitFor(isRetried, { what: 'a delivery that is retried' })
    const after = await read()
    const name = 'restante_webhook_first_attempt_delay_seconds_count'
    expect((after.value(name) ?? 0) - (before.value(name) ?? 0)).toBe(1)
    expect(after.value('restante_webhook_queue_waiting', { state: 'new' })).toBe(0)
    expect(after.value('restante_webhook_queue_oldest_seconds')).toBe(0)
    await dispatcher.db.query(AGE)
    const late = await measured(dispatcher)
    expect(late.value('restante_webhook_queue_waiting', { state: 'new' })).toBe(1)
    expect(late.value('restante_webhook_queue_oldest_seconds')).toBeGreaterThan(3_590)
  })

  it('begin with 0 for decisions that have not been made, so that an increase shows the first one', async () => {
    const metrics = await read()
    for (const decision of ['given_up', 'disabled'])
      expect(metrics.value('restante_webhook_attempts_total', { decision })).toBeDefined()
  })
})
