import { topics } from '@restante/contracts/events'
import { verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
import { startingEvent } from '../requested/starting-event.ts'
import { Subscription } from '../requested/subscription.ts'

let dispatcher: TestDispatcher
let receiver: WebhookReceiver
beforeAll(async () => {
  dispatcher = await startDispatcher()
  receiver = await new WebhookReceiver().start()
})
afterAll(async () => {
  await dispatcher.stop()
  await receiver.stop()
})

describe('the start of a calendar event', () => {
  it('is delivered once to who names its type, logged under the id of its document, and sent again on request', async () => {
    const own = await Subscription.make(dispatcher, receiver, { event_types: ['calendar.event.starting'] })
    const event = startingEvent(own.scope)
    await dispatcher.events.publish(topics['calendar.events'], event, event)
    const [delivery] = await own.logged(1, 'delivered')
    expect(delivery).toMatchObject({ event_id: event.payload.event_id, event_type: 'calendar.event.starting' })
    expect(receiver.requests).toHaveLength(1)
    const [first] = receiver.requests
    expect(first && verifyWebhook(own.secret, first)).toEqual(event.payload)
    expect(await own.retry(delivery?.delivery_id ?? '')).toMatchObject({
      status: 200,
      body: { event_id: event.payload.event_id, state: 'retrying' },
    })
    await waitFor(() => receiver.requests.length === 2, { what: 'the delivery to be sent again' })
    expect(receiver.requests[1]?.body).toBe(first?.body)
    await own.logged(1, 'delivered')
  })
})
