import { topics } from '@restante/contracts/events'
import { sql } from '@restante/service/database'
import { callerOf, inboxScope, receivedEvent, WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'

const selectAttempts = sql<{ attempts: number }>('select attempts from deliveries')
const selectFailing = sql<{ failing_since: Date | null }>('select failing_since from webhooks')

let dispatcher: TestDispatcher
beforeAll(async () => {
  dispatcher = await startDispatcher({ ALLOW_LOOPBACK_URLS: 'false' })
})
afterAll(() => dispatcher.stop())

describe('a webhook with the address of an internal network', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1', '2130706433'])(
    'is not contacted at %s, which counts as a failed attempt',
    async (host) => {
      const receiver = await new WebhookReceiver().start()
      const caller = callerOf()
      const port = new URL(receiver.url).port
      await dispatcher.webhook(caller, { url: `http://${host}:${port}/`, event_types: ['message.received'] })
      const scope = inboxScope({ organizationId: caller.organization_id })
      await dispatcher.events.publish(topics['mail.messages'], receivedEvent(scope))
      await waitFor(async () => (await dispatcher.db.query(selectAttempts))[0]?.attempts === 1, {
        what: 'the refusal to be counted',
      })
      expect((await dispatcher.db.query(selectFailing))[0]?.failing_since).toEqual(expect.any(Date))
      expect(receiver.requests).toEqual([])
      await dispatcher.clear()
      await receiver.stop()
    },
  )
})
