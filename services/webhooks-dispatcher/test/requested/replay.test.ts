import { topics } from '@restante/contracts/events'
import { sql } from '@restante/service/database'
import { WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
import { replayLastHour } from './replay-last-hour.ts'
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

const forgetMarks = sql<unknown>('delete from consumed')
const forgetLog = sql<unknown, [webhookId: string]>('delete from delivery_log where webhook_id = $1')

const replay = (webhookId: string, more?: Record<string, unknown>) => replayLastHour(dispatcher, webhookId, more)
const ids = (of = receiver) => of.requests.map(({ headers }) => String(headers['svix-id']))
/** What the consumer group has committed is what a replay reads. */
const replayed = (webhookId: string, matched: number, more: Record<string, unknown> = {}) =>
  waitFor(
    async () => {
      const dry = await replay(webhookId, { dry_run: true, ...more })
      return dry.matched === matched && dry
    },
    { what: `${matched} events to be replayable` },
  )

describe('a replay of a time range', () => {
  it('sends every event again under the id of its delivery, and others to no one', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    const stranger = await Subscription.make(dispatcher, receiver)
    await own.receive(5)
    await own.deliver()
    await stranger.receive(2)
    await own.logged(5, 'delivered')
    await stranger.logged(2, 'delivered')
    await replayed(own.id, 5)
    const before = (await own.log()).map(({ delivery_id }) => delivery_id)
    receiver.requests.length = 0
    expect(await replay(own.id)).toEqual({ matched: 5, queued: 5, pending: 0 })
    await waitFor(() => receiver.requests.length === 5, { what: 'five requests' })
    expect(ids().toSorted()).toEqual(before.toSorted())
    await own.logged(5, 'delivered')
  })

  it('adds nothing to what is still pending, however often it runs', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    await own.receive(3)
    await own.logged(3, 'delivered')
    await replayed(own.id, 3)
    receiver.requests.length = 0
    receiver.always('silence')
    expect(await replay(own.id)).toEqual({ matched: 3, queued: 3, pending: 0 })
    expect(await replay(own.id)).toEqual({ matched: 3, queued: 0, pending: 3 })
    await waitFor(() => receiver.requests.length === 3, { what: 'three requests' })
    receiver.always(200).release(200)
    await own.logged(3, 'delivered')
    expect(receiver.requests).toHaveLength(3)
  })

  it('leaves nothing to send to those that have its events when dead letters of them are handled afterwards', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    const other = await new WebhookReceiver().start()
    const body = { url: other.url, event_types: ['message.received'] }
    const { webhook_id: otherId } = await dispatcher.webhook(own.caller, body)
    const [event] = await own.receive()
    if (!event) throw new Error('no event')
    await own.logged(1, 'delivered')
    await waitFor(async () => (await dispatcher.remains()).deliveries === 0, { what: 'both deliveries to end' })
    // As if the event had become a dead letter, and a replay had then sent it to the first webhook.
    await dispatcher.db.query(forgetMarks)
    await dispatcher.db.query(forgetLog, otherId)
    await dispatcher.events.publish(topics['mail.messages'], event)
    await waitFor(() => other.requests.length === 2, { what: 'the event that the other has not got' })
    await waitFor(async () => (await dispatcher.remains()).deliveries === 0, { what: 'every delivery to end' })
    expect(receiver.requests).toHaveLength(1)
    await other.stop()
  })

  it('sends nothing of before the webhook was created, matched, or was enabled again', async () => {
    const first = await Subscription.make(dispatcher, receiver, { event_types: ['message.received.spam'] })
    const body = { url: receiver.url, event_types: ['message.received'] }
    const { webhook_id: witness } = await dispatcher.webhook(first.caller, body)
    await first.receive(2)
    await replayed(witness, 2)
    await first.change({ event_types: ['message.received'] })
    const { webhook_id: later } = await dispatcher.webhook(first.caller, body)
    await first.receive()
    await replayed(witness, 3)
    await first.change({ enabled: false })
    await first.receive()
    await replayed(witness, 4)
    await first.change({ enabled: true })
    await first.receive()
    await replayed(witness, 5)
    expect(await replay(first.id, { dry_run: true })).toMatchObject({ matched: 2 })
    expect(await replay(later, { dry_run: true })).toMatchObject({ matched: 3 })
  })

  it('reaches what was attempted before the webhook was disabled, and not what was dropped then without an attempt', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    const witness = await new WebhookReceiver().start()
    const { webhook_id: witnessId } = await dispatcher.webhook(own.caller, {
      url: witness.url,
      event_types: ['message.received'],
    })
    receiver.always(500)
    await own.receive()
    await own.logged(1, 'retrying')
    receiver.always('silence')
    await own.receive()
    await replayed(witnessId, 2)
    await own.change({ enabled: false })
    await own.change({ enabled: true })
    expect(await replay(own.id, { dry_run: true })).toEqual({ matched: 1, queued: 0, pending: 0 })
    await witness.stop()
  })

  it('sends nothing in a dry run, and nothing of a deleted message', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    const [event] = await own.receive(2)
    await own.logged(2, 'delivered')
    await replayed(own.id, 2)
    expect((await dispatcher.remains()).deliveries).toBe(0)
    expect(receiver.requests).toHaveLength(2)
    dispatcher.mail.deleted.add(event?.subject ?? '')
    expect(await replay(own.id)).toMatchObject({ queued: 2 })
    await waitFor(async () => (await dispatcher.remains()).deliveries === 0, { what: 'both deliveries to end' })
    expect(receiver.requests).toHaveLength(3)
    expect((await own.log()).map(({ state }) => state).toSorted()).toEqual(['delivered', 'dropped'])
  })

  it('is refused for an unknown and for a disabled webhook', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    await own.change({ enabled: false })
    for (const id of [own.id, `ep_${'0'.repeat(27)}`]) await expect(replay(id)).rejects.toThrow('disabled')
  })
})

describe('the operator’s view of the log', () => {
  const ask = (operation: 'listLog' | 'replayDelivery', body: Record<string, unknown>) =>
    dispatcher.internal(`webhooks-dispatcher.${operation}`, body)

  it('pages through it, in one state, since a time', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    await own.receive(3)
    const all = await own.logged(3, 'delivered')
    const list = async (more: Record<string, unknown>) =>
      (await ask('listLog', { webhook_id: own.id, limit: 10, ...more })).body['deliveries']
    expect(await list({})).toEqual(all)
    expect(await list({ limit: 2 })).toEqual(all.slice(0, 2))
    const [, second] = all
    if (!second) throw new Error('no second delivery')
    const { created_at, delivery_id } = second
    expect(await list({ after: { created_at, delivery_id } })).toEqual(all.slice(2))
    expect(await list({ state: 'failed' })).toEqual([])
    expect(await list({ since: new Date(Date.now() + 60_000).toISOString() })).toEqual([])
    expect((await ask('listLog', { webhook_id: `ep_${'0'.repeat(27)}`, limit: 1 })).body).toEqual({})
  })

  it('sends one delivery again, or says why not', async () => {
    const own = await Subscription.make(dispatcher, receiver)
    await own.receive()
    const [delivery] = await own.logged(1, 'delivered')
    const request = { webhook_id: own.id, delivery_id: delivery?.delivery_id, operator: 'tester' }
    expect((await ask('replayDelivery', request)).body).toMatchObject({ delivery: { state: 'retrying' } })
    await waitFor(() => receiver.requests.length === 2, { what: 'the second request' })
    await own.change({ enabled: false })
    expect((await ask('replayDelivery', request)).body).toMatchObject({
      refused: expect.stringContaining('The webhook is disabled. Enable it first'),
    })
  })
})
