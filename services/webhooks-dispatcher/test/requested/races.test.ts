import { sql } from '@restante/service/database'
import { WebhookReceiver, waitFor } from '@restante/testkit'
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
  dispatcher.mail.answering = undefined
  await dispatcher.clear()
  await receiver.stop()
})

const nothingRemains = () =>
  waitFor(
    async () => {
      expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
      return true
    },
    { what: 'nothing to remain' },
  )

/** Keeps the answers to questions whether a message exists. */
function hold(): { asked(): Promise<unknown>; answer(): void } {
  const { mail } = dispatcher
  const { promise, resolve } = Promise.withResolvers<void>()
  const before = mail.questions
  mail.answering = promise
  return {
    asked: () => waitFor(() => mail.questions > before, { what: 'the question whether the message exists' }),
    answer: resolve,
  }
}

describe('while a delivery is asked for', () => {
  it('sends nothing to another webhook that has got the alias meanwhile', async () => {
    const own = await Subscription.make(dispatcher, receiver, { client_id: 'hook' })
    await own.receive()
    const [delivery] = await own.logged(1, 'delivered')
    const held = hold()
    const answer = own.retry(delivery?.delivery_id ?? '', own.caller, '', 'hook')
    await held.asked()
    await own.delete()
    const heir = await new WebhookReceiver().start()
    const body = { url: heir.url, event_types: ['domain.verified'], client_id: 'hook' }
    const { webhook_id } = await dispatcher.webhook(own.caller, body)
    held.answer()
    expect(await answer).toMatchObject({ status: 404, body: { code: 'not_found', message: 'Webhook not found' } })
    await dispatcher.request('webhooks.test', own.caller, 'POST', `/webhooks/${webhook_id}/test`, {})
    await nothingRemains()
    expect(heir.requests).toHaveLength(1)
    await heir.stop()
  })

  it('sends nothing to a webhook that is deleted while its message is looked up', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    await own.receive()
    const [delivery] = await own.logged(1, 'delivered')
    const firstQuestion = hold()
    const answer = own.retry(delivery?.delivery_id ?? '')
    await firstQuestion.asked()
    const ofTheAttempt = hold()
    firstQuestion.answer()
    expect(await answer).toMatchObject({ status: 200 })
    await ofTheAttempt.asked()
    expect(await own.delete()).toMatchObject({ status: 204 })
    ofTheAttempt.answer()
    await nothingRemains()
    expect(receiver.requests).toHaveLength(1)
  })
})

const startClock = sql<unknown, [webhookId: string]>(
  `update webhooks set failing_since = now() - interval '7 days', clock_started_at = now() - interval '6 days',
     warned_at = now() - interval '3 days' where id = $1`,
)

describe('an attempt that fails after its webhook was disabled for failures and enabled again', () => {
  it('is the last of its delivery, which the log shows as dropped', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    receiver.always('silence')
    const [slow] = await own.receive()
    await waitFor(() => receiver.requests.length === 1, { what: 'the slow request' })
    receiver.always(500)
    await dispatcher.db.query(startClock, own.id)
    await own.receive()
    await own.logged(1, 'dropped')
    await own.change({ enabled: true })
    receiver.release(500)
    const dropped = (await own.logged(2, 'dropped')).find(({ event_id }) => event_id === slow?.id)
    expect(dropped).toMatchObject({ attempts: [{ http_status: 500 }] })
    await nothingRemains()
    expect(receiver.requests).toHaveLength(2)
  })
})
