import { topics } from '@restante/contracts/events'
import { sql } from '@restante/service/database'
import { callerOf, DnsZone, inboxScope, receivedEvent, WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'

let dns: DnsZone
let dispatcher: TestDispatcher
let receiver: WebhookReceiver
beforeAll(async () => {
  dns = await new DnsZone().start()
  dispatcher = await startDispatcher({ DNS_SERVERS: dns.address })
})
afterAll(async () => {
  await dispatcher.stop()
  await dns.stop()
})
beforeEach(async () => {
  receiver = await new WebhookReceiver().start()
})
afterEach(async () => {
  await dispatcher.clear()
  await receiver.stop()
})

const stateOf = sql<{ attempts: number; failing: boolean; logged: number }, [webhookId: string]>(
  `select d.attempts, w.failing_since is not null as failing,
     (select count(*)::int from delivery_log where webhook_id = w.id) as logged
   from deliveries d join webhooks w on w.id = d.webhook_id where w.id = $1`,
)

const age = sql<never, [webhookId: string]>(
  `update deliveries set created_at = created_at - interval '31 hours' where webhook_id = $1`,
)
const logOf = sql<{ state: string; attempts: number; next_attempt_at: Date | null }, [webhookId: string]>(
  'select state, jsonb_array_length(attempts) as attempts, next_attempt_at from delivery_log where webhook_id = $1',
)

/** A webhook at a host name, and one event for it. */
async function publishTo(host: string) {
  const caller = callerOf()
  const url = receiver.url.replace('127.0.0.1', host)
  const { webhook_id: id } = await dispatcher.webhook(caller, { url, event_types: ['message.received'] })
  const asked = () => dns.questions.filter(({ name }) => name === host).length
  const before = asked()
  await dispatcher.events.publish(
    topics['mail.messages'],
    receivedEvent(inboxScope({ organizationId: caller.organization_id })),
  )
  await waitFor(() => asked() > before, { what: 'the name to be resolved' })
  return { id, asked, state: async () => (await dispatcher.db.query(stateOf, id))[0] }
}

describe('a webhook whose name cannot be resolved', () => {
  it('is not at fault while the name server fails, and gets the event as soon as it answers', async () => {
    dns.fail('hook.test')
    const { asked, state } = await publishTo('hook.test')
    const first = asked()
    await waitFor(
      async () => {
        await dispatcher.hurry()
        return asked() > first
      },
      { what: 'the attempt to be repeated' },
    )
    expect(await state()).toEqual({ attempts: 0, failing: false, logged: 0 })
    dns.set('hook.test', { type: 'A', address: '127.0.0.1' })
    await waitFor(
      async () => {
        await dispatcher.hurry()
        return receiver.requests.length > 0
      },
      { what: 'the event' },
    )
  })

  it('has failed for good when the name server still fails after the time of all retries', async () => {
    dns.fail('lame.test')
    const { id, state } = await publishTo('lame.test')
    expect(await state()).toEqual({ attempts: 0, failing: false, logged: 0 })
    await dispatcher.db.query(age, id)
    const entries = () => dispatcher.db.query(logOf, id)
    await waitFor(
      async () => {
        await dispatcher.hurry()
        return (await entries()).length > 0
      },
      { what: 'the failure' },
    )
    expect(await entries()).toEqual([{ state: 'failed', attempts: 1, next_attempt_at: null }])
    expect(await state()).toBeUndefined()
  })

  it('has failed when the name does not exist', async () => {
    const { state } = await publishTo('unknown-hook.test')
    await waitFor(async () => (await state())?.attempts === 1, { what: 'the failed attempt' })
    expect(await state()).toEqual({ attempts: 1, failing: true, logged: 1 })
  })

  it('is refused when the name leads to an internal address', async () => {
    dns.set('internal.test', { type: 'A', address: '10.0.0.1' }, { type: 'AAAA', address: 'fd00:ec2::254' })
    const { state } = await publishTo('internal.test')
    await waitFor(async () => (await state())?.attempts === 1, { what: 'the failed attempt' })
    expect(receiver.requests).toEqual([])
  })
})
