import { topics } from '@restante/contracts/events'
import { WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
import { replayLastHour } from './replay-last-hour.ts'
import { startingEvent } from './starting-event.ts'
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

const NOTHING = { deliveries: 0, payloads: 0, timers: 0 }

/** A webhook that has got the start of a calendar event. */
async function started() {
  const own = await Subscription.make(dispatcher, receiver, { event_types: ['calendar.event.starting'] })
  await dispatcher.events.publish(topics['calendar.events'], startingEvent(own.scope))
  const [delivery] = await own.logged(1, 'delivered')
  if (!delivery) throw new Error('nothing was delivered')
  const deleteInbox = async () => {
    await dispatcher.gateway.request(own.tenant.key, 'DELETE', `/v0/inboxes/${own.scope.address}`)
  }
  return { own, id: delivery.delivery_id, deleteInbox }
}

type Started = Awaited<ReturnType<typeof started>>

const askFor = ({ own, id }: Started) => own.retry(id)
/** The event can be read again as soon as its place is committed. */
const replay = ({ own }: Started) =>
  waitFor(async () => (await replayLastHour(dispatcher, own.id)).queued === 1, { what: 'the event to be replayed' })

const dropped = async ({ own }: Started) => {
  const [entry] = await own.logged(1, 'dropped')
  expect(entry).not.toHaveProperty('next_attempt_at')
  expect(await dispatcher.remains()).toEqual(NOTHING)
}

describe('the event of a calendar whose inbox is deleted', () => {
  it('is refused when its delivery is asked for, and nothing of it is sent', async () => {
    const { own, id, deleteInbox } = await started()
    await deleteInbox()
    expect(await own.retry(id)).toMatchObject({
      status: 409,
      body: { code: 'conflict', message: 'The inbox of this event is deleted' },
    })
    expect(await dispatcher.remains()).toEqual(NOTHING)
    expect(receiver.requests).toHaveLength(1)
  })

  it('is not sent by a replay', async () => {
    const calendar = await started()
    await calendar.deleteInbox()
    await replay(calendar)
    await dropped(calendar)
    expect(receiver.requests).toHaveLength(1)
  })

  it.each([
    ['its delivery was asked for', askFor],
    ['it was replayed', replay],
  ])('is not sent by an attempt after the deletion when %s before', async (_what, ask) => {
    const calendar = await started()
    receiver.always(500)
    await ask(calendar)
    await calendar.own.logged(1, 'retrying')
    await waitFor(() => receiver.requests.length === 2, { what: 'the first attempt' })
    await calendar.deleteInbox()
    await dispatcher.hurry()
    await dropped(calendar)
    expect(receiver.requests).toHaveLength(2)
  })
})

describe('the event of a calendar whose inbox exists', () => {
  it('is sent again, and the owner of messages is not asked', async () => {
    const calendar = await started()
    const before = dispatcher.mail.questions
    for (const [ask, requests] of [
      [askFor, 2],
      [replay, 3],
    ] as const) {
      await ask(calendar)
      await waitFor(() => receiver.requests.length === requests, { what: `${requests} requests` })
      await calendar.own.logged(1, 'delivered')
    }
    expect(dispatcher.mail.questions).toBe(before)
  })
})
