import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { hashedUuid } from '@restante/service/database'
import { type InboxScope, verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
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

/** The event of a start, whose id is made of that of its calendar event. */
function starting({ organizationId, podId, inboxUid, address }: InboxScope) {
  const [id, at] = [randomUUID(), new Date()]
  const start_at = at.toISOString().replace(/\.\d+/, '')
  const calendar_event = {
    ...{ event_id: id, kind: 'single' as const, title: 'Review', status: 'confirmed' as const, all_day: false },
    ...{ start: '2031-01-06T09:00:00', end: '2031-01-06T10:00:00', timezone: 'UTC', duration_mode: 'exact' as const },
    ...{ duration_value: 3_600_000, start_at, end_at: start_at, attendee_count: 0, uid: id, sequence: 0 },
    ...{ source: 'api' as const, created_at: at.toISOString(), updated_at: at.toISOString() },
  }
  const type = 'calendar.event.starting' as const
  const event_id = `${id}_single.start`
  const document = { type: 'event' as const, event_type: type, event_id, inbox_id: address, calendar_event }
  return topics['calendar.events'].event(
    type,
    { ...document, scheduled_at: start_at },
    {
      id: hashedUuid(event_id),
      time: at,
      about: { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, subject: id },
    },
  )
}

describe('the start of a calendar event', () => {
  it('is delivered once to who names its type, logged under the id of its document, and sent again on request', async () => {
    const own = await Subscription.make(dispatcher, receiver, { event_types: ['calendar.event.starting'] })
    const event = starting(own.scope)
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
