import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import { type EventOf, topics } from '@restante/contracts/events'
import { DomainLookup } from '@restante/domains'
import { Outbox } from '@restante/messaging'
import { deliverOnce, deliverShuffled, deliverTogether, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { createParserPool, OpenImage, type ParserPool } from '@restante/mime'
import { sql } from '@restante/service/database'
import { type CollectedRecord, countRows, queryRows, type TopicCollection, waitFor } from '@restante/testkit'
import { RecipientLookup } from '../../src/inbound/recipients.ts'
import { ServiceAddresses } from '../../src/inbound/service-addresses.ts'
import { deliveriesConsumer } from '../../src/sent/consumers.ts'
import type { DeliveryEvent } from '../../src/sent/delivery-events.ts'
import { SentPlacement } from '../../src/sent/placement.ts'
import { DOMAIN, type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { LARGE_TEXT, pathOf, receiveMail, sentCopy } from '../mailbox-fixture.ts'

type MailSendEvent = EventOf<(typeof topics)['mail.deliveries']>

let fixture: Fixture
let inbox: TestInbox
let events: TopicCollection
let parser: ParserPool
let consumer: ReturnType<typeof deliveriesConsumer>

beforeAll(async () => {
  fixture = await openFixture()
  events = await fixture.collect('mail.messages')
  parser = createParserPool({ threads: 1 })
  const {
    db,
    config: { operator },
  } = fixture
  const outbox = new Outbox({ db, service: 'mail-ingest' })
  const blobs = await openBlobStore(`directory:${fixture.blobs}`)
  const returnPath = { domain: 'bounces.test', secret: 'unused' }
  const addresses = new ServiceAddresses({ returnPath, complaintAddresses: new Map(), operator })
  const domains = new DomainLookup({ db, ownDomains: new Set([DOMAIN]), owner: fixture.gateway })
  const recipients = new RecipientLookup({ gateway: fixture.gateway, addresses, domains, operator })
  const placement = new SentPlacement({ db, blobs, parser, outbox, recipients, openImage: new OpenImage('secret') })
  consumer = deliveriesConsumer({ kafka: fixture.topics.kafka, db, outbox, placement })
})
afterAll(async () => {
  // It was not started, but keeps a connection since it wrote a dead letter.
  await consumer.stop()
  await parser.close()
  await fixture.stop()
})
beforeEach(async () => {
  inbox = await fixture.inbox()
})

/** Hands events to the consumer as their topic would. */
async function deliver(...delivered: MailSendEvent[]): Promise<void> {
  for (const event of delivered) await deliverOnce(consumer, event)
}

const T = (minute: number) => `2026-11-20T10:0${minute}:00.000Z`
const RECIPIENTS = ['bo@customer.test']
const LINE = 'A long line of a mail that somebody has written.\r\n'
const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1)
type SentMessage = Awaited<ReturnType<typeof sentMessage>>

async function sentMessage(
  minutes: { delayed?: number; delivered?: number; text?: string } = {},
  overrides: Parameters<typeof sentCopy>[2] = {},
) {
  const copy = await sentCopy(fixture, inbox, { text: minutes.text ?? '', ...overrides })
  const { organization_id, pod_id, inbox_uid, message_id, thread_id } = copy
  const scope = { organization_id, pod_id, inbox_uid, message_id, thread_id }
  const envelope = (type: string) => ({
    id: randomUUID(),
    subject: message_id,
    key: inbox_uid,
    time: new Date(),
    routing: { organizationId: organization_id },
    type,
  })
  const fact = (type: DeliveryEvent['type'], minute: number, more: object = {}): MailSendEvent => {
    const payload = { ...scope, timestamp: T(minute), recipients: RECIPIENTS, ...more }
    const schema = topics['mail.deliveries'].events[type].schema
    return { ...envelope(type), payload: schema.parse(payload) } as MailSendEvent
  }
  return {
    copy,
    accepted: { ...envelope('message.accepted'), payload: copy } as MailSendEvent,
    handedOver: fact('delivery.handed_over', 1),
    delayed: fact('delivery.delayed', minutes.delayed ?? 2),
    delivered: fact('delivery.delivered', minutes.delivered ?? 3),
    delayedAgain: fact('delivery.delayed', 4),
    bounced: fact('delivery.bounced', 4, { type: 'Permanent', sub_type: 'NoEmail' }),
    complained: fact('delivery.complained', 5, { type: 'abuse', sub_type: 'spam' }),
    rejected: fact('delivery.rejected', 1, { reason: 'Bad content' }),
    opened: fact('delivery.opened', 6),
  }
}

/** A message to three: one delayed and then delivered, one delayed after that, one who complains and opens it. */
function eventsOf({
  accepted,
  handedOver,
  delayed,
  delivered,
  delayedAgain,
  complained,
  opened,
}: SentMessage): MailSendEvent[] {
  return [accepted, handedOver, delayed, delivered, delayedAgain, complained, opened]
}

const PUBLISHED = sql<{ type: string }, [messageId: string]>(
  `select type from outbox where subject = $1 and type like 'message.%' order by type`,
)

interface StoredCopy {
  readonly labels: readonly string[]
  readonly handed_over_at: Date | null
  readonly settled_at: Date | null
  readonly delayed_at: Date | null
  readonly opened_at: Date | null
}

/** All that the facts of a message leave behind. */
async function stateOf(messageId: string) {
  const { db } = fixture
  const rows = await queryRows<StoredCopy>(db, 'select * from messages where message_id = $1', messageId)
  return {
    messages: rows.length,
    labels: rows.flatMap((row) => row.labels).toSorted(),
    times: rows.map((row) => [row.handed_over_at, row.settled_at, row.delayed_at, row.opened_at]),
    threads: await countRows(db, 'threads where last_message_id = $1', messageId),
    pending: await countRows(db, 'pending_delivery_events where message_id = $1', messageId),
    published: (await db.query(PUBLISHED, messageId)).map(({ type }) => type),
  }
}

const get = (id: string) => fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))
const labels = async (id: string): Promise<string[]> => (await get(id)).body.labels

/** Events about a message, without those of labels. They are complete once `marker`, an event that was raised afterwards, is there. */
async function fired(messageId: string): Promise<CollectedRecord[]> {
  const marker = await receiveMail(fixture, inbox)
  await events.next(({ headers }) => headers['ce_subject'] === marker, { what: 'the marker' })
  const isOurs = ({ headers, type }: CollectedRecord) =>
    headers['ce_subject'] === messageId && type.startsWith('message.')
  return events.records.filter(isOurs)
}
const firedTypes = async (id: string) => (await fired(id)).map(({ type }) => type)

describe('a sent copy', () => {
  it('is placed by the call and by the event, once', async () => {
    const { copy, accepted } = await sentMessage()
    await fixture.peer('mail-ingest.placeSent', copy)
    await fixture.peer('mail-ingest.placeSent', copy)
    await deliver(accepted, accepted)
    const { body } = await get(copy.message_id)
    expect(body).toMatchObject({
      thread_id: copy.thread_id,
      labels: ['sent', 'campaign'],
      timestamp: copy.timestamp,
      from: copy.from,
      to: copy.to,
      subject: 'Offer',
      text: 'Our offer.\n\n> your question\n',
      extracted_text: 'Our offer.',
      size: copy.blob.size,
    })
    const list = await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')
    expect(list.body.count).toBe(1)
    const thread = await fixture.call(inbox.caller, 'threads.get', 'GET', `/threads/${copy.thread_id}`)
    expect(thread.body).toMatchObject({ message_count: 1, sent_timestamp: copy.timestamp })
    expect(thread.body).not.toHaveProperty('received_timestamp')
  })

  it.each([
    ['small', ''],
    ['large', LARGE_TEXT],
  ])('keeps its bytes when mail-send drops its own: a %s mail', async (_size, text) => {
    const { copy, accepted } = await sentMessage({ text })
    await deliver(accepted)
    const blobs = await openBlobStore(`directory:${fixture.blobs}`)
    await blobs.delete(copy.blob.name)
    const raw = await fixture.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(copy.message_id)}/raw`)
    const file = await fetch(raw.body.download_url.replace('http://public.test/v0', fixture.url))
    const content = await file.text()
    expect(content).toContain('Our offer.')
    expect(content).toHaveLength(copy.blob.size)
  })

  it('does not come back once it was deleted', async () => {
    const { copy, accepted, handedOver } = await sentMessage()
    await fixture.peer('mail-ingest.placeSent', copy)
    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(copy.message_id))
    await deliver(accepted, handedOver)
    expect((await get(copy.message_id)).status).toBe(404)
    expect(await firedTypes(copy.message_id)).toEqual(['message.stored', 'message.deleted'])
  })

  it('has answers join its thread', async () => {
    const { copy, accepted } = await sentMessage()
    await deliver(accepted)
    const answer = await receiveMail(fixture, inbox, { inReplyTo: copy.message_id })
    expect((await get(answer)).body.thread_id).toBe(copy.thread_id)
  })

  it('makes mail to oneself a duplicate', async () => {
    const { copy, accepted } = await sentMessage()
    await deliver(accepted)
    const facts = await fixture.collect('mail.inbound')
    const outcome = await fixture.peer('mail-ingest.acceptInbound', {
      delivery_id: randomUUID(),
      organization_id: inbox.organization_id,
      pod_id: inbox.pod_id,
      inbox_uid: inbox.inbox_uid,
      recipient: inbox.address,
      mail_from: inbox.address,
      blob: copy.blob,
    })
    expect(outcome).toEqual({ outcome: 'accepted' })
    const isOurs = ({ key, type }: CollectedRecord) => key === inbox.inbox_uid && type === 'mail.discarded'
    const fact = await facts.next(isOurs, { what: 'the discard' })
    expect(JSON.parse(fact.value).reason).toBe('duplicate')
  })
})

describe('delivery events', () => {
  it('become labels and events, each once, however often they arrive', async () => {
    const { copy, accepted, handedOver, delayed, delivered, complained, opened } = await sentMessage()
    await deliver(accepted, handedOver, handedOver, delayed, delayed)
    expect(await labels(copy.message_id)).toEqual(['sent', 'campaign', 'delayed'])
    expect((await get(copy.message_id)).body).not.toHaveProperty('opened_at')
    await deliver(delivered, delivered, complained, complained, opened, opened)
    expect(await labels(copy.message_id)).toEqual(['sent', 'campaign', 'delivered', 'complained', 'opened'])
    expect((await get(copy.message_id)).body).toMatchObject({ opened_at: T(6) })
    const [stored, ...published] = await fired(copy.message_id)
    expect(stored?.type).toBe('message.stored')
    const documents = published.map(({ value }) => JSON.parse(value))
    const about = { inbox_id: inbox.address, thread_id: copy.thread_id, message_id: copy.message_id }
    expect(documents).toEqual([
      {
        type: 'event',
        event_type: 'message.sent',
        event_id: handedOver.id,
        send: { ...about, timestamp: T(1), recipients: RECIPIENTS },
      },
      {
        type: 'event',
        event_type: 'message.delivered',
        event_id: delivered.id,
        delivery: { ...about, timestamp: T(3), recipients: RECIPIENTS },
      },
      {
        type: 'event',
        event_type: 'message.complained',
        event_id: complained.id,
        complaint: { ...about, timestamp: T(5), type: 'abuse', sub_type: 'spam', recipients: RECIPIENTS },
      },
      { type: 'event', event_type: 'message.opened', event_id: opened.id, open: { ...about, timestamp: T(6) } },
    ])
  })

  it.each(SEEDS)('have the same effect in any order and however often (seed %i)', async (seed) => {
    const inOrder = await sentMessage()
    await deliver(...eventsOf(inOrder))
    const expected = await stateOf(inOrder.copy.message_id)
    expect(expected).toMatchObject({
      labels: ['campaign', 'complained', 'delayed', 'delivered', 'opened', 'sent'],
      pending: 0,
    })
    const shuffled = await sentMessage()
    await deliverShuffled(consumer, seed, ...eventsOf(shuffled))
    expect(await stateOf(shuffled.copy.message_id)).toEqual(expected)
  })

  it('have the same effect twice and in swapped order', async () => {
    const { copy, accepted, handedOver, delayed, delivered } = await sentMessage()
    await deliverTwiceAndSwapped(consumer, accepted, handedOver, delayed, delivered)
    expect(await labels(copy.message_id)).toEqual(['sent', 'campaign', 'delivered'])
    expect((await firedTypes(copy.message_id)).toSorted()).toEqual([
      'message.delivered',
      'message.sent',
      'message.stored',
    ])
    const list = await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages?labels=sent')
    expect(list.body.count).toBe(1)
  })

  it('publish message.sent before message.delivered, in any order of arrival', async () => {
    const { copy, accepted, handedOver, delivered } = await sentMessage()
    await deliver(accepted, delivered, handedOver)
    expect(await firedTypes(copy.message_id)).toEqual(['message.stored', 'message.sent', 'message.delivered'])
  })

  it('wait for a copy that is not stored yet', async () => {
    const { copy, accepted, handedOver, delivered, delayed } = await sentMessage()
    await deliver(delivered, handedOver, delayed, delivered)
    expect((await get(copy.message_id)).status).toBe(404)
    await deliver(accepted)
    expect(await labels(copy.message_id)).toEqual(['sent', 'campaign', 'delivered'])
    expect((await firedTypes(copy.message_id)).toSorted()).toEqual([
      'message.delivered',
      'message.sent',
      'message.stored',
    ])
  })

  it('publish bounces and rejections', async () => {
    const { copy, accepted, bounced, delayed } = await sentMessage()
    await deliver(accepted, delayed, bounced)
    expect(await labels(copy.message_id)).toEqual(['sent', 'campaign', 'bounced'])
    const [, bounce] = await fired(copy.message_id)
    expect(JSON.parse(bounce?.value ?? '').bounce).toMatchObject({
      type: 'Permanent',
      sub_type: 'NoEmail',
      recipients: [{ address: 'bo@customer.test', status: 'bounced' }],
    })
    const other = await sentMessage()
    await deliver(other.accepted, other.rejected)
    expect(await labels(other.copy.message_id)).toEqual(['sent', 'campaign', 'rejected'])
    const [, reject] = await fired(other.copy.message_id)
    expect(JSON.parse(reject?.value ?? '').reject).toMatchObject({ reason: 'Bad content' })
  })

  it('are still published to pod and organization when the whole inbox was deleted', async () => {
    const { copy, accepted, delivered } = await sentMessage()
    const early = await sentMessage()
    await deliver(accepted, early.delivered)
    await fixture.deleteInbox(inbox)
    await waitFor(async () => (await countRows(fixture.db, 'messages where inbox_uid = $1', inbox.inbox_uid)) === 0, {
      what: 'the purge',
    })
    await deliver(delivered)
    const event = await events.next(
      ({ type, headers }) => type === 'message.delivered' && headers['ce_subject'] === copy.message_id,
      { what: 'the event' },
    )
    expect(event.headers).toMatchObject({ ce_organizationid: inbox.organization_id, ce_podid: inbox.pod_id })
    expect(event.headers).not.toHaveProperty('ce_inboxuid')
    expect(JSON.parse(event.value).delivery.inbox_id).toBe(inbox.address)
    // A fact that waited for its copy, which is not placed any more.
    await deliver(early.accepted)
    const late = await events.next(
      ({ type, headers }) => type === 'message.delivered' && headers['ce_subject'] === early.copy.message_id,
      { what: 'the event of a fact that was ahead of its copy' },
    )
    expect(late.headers).not.toHaveProperty('ce_inboxuid')
  })
})

describe('events of one batch', () => {
  it('have the effect that they have one by one', async () => {
    const alone = await sentMessage()
    await deliver(...eventsOf(alone))
    const expected = await stateOf(alone.copy.message_id)
    const sent = await Promise.all(SEEDS.map(() => sentMessage()))
    await deliverTogether(consumer, ...sent.flatMap(eventsOf).slice(0, 50))
    await deliverTogether(consumer, ...sent.flatMap(eventsOf).slice(40))
    for (const { copy } of sent) expect(await stateOf(copy.message_id)).toEqual(expected)
    expect(await firedTypes(sent[0]?.copy.message_id ?? '')).toEqual(await firedTypes(alone.copy.message_id))
  })

  it('place a copy once that two of them bring, and the copies of a thread in the order of their times', async () => {
    const thread_id = randomUUID()
    const newer = await sentMessage({}, { thread_id, timestamp: T(5), subject: 'Newer' })
    const older = await sentMessage({}, { thread_id, timestamp: T(2), subject: 'Older' })
    const again = { ...newer.accepted, id: randomUUID() }
    await deliverTogether(consumer, newer.accepted, again, older.accepted, older.handedOver)
    const thread = await fixture.call(inbox.caller, 'threads.get', 'GET', `/threads/${thread_id}`)
    expect(thread.body).toMatchObject({ message_count: 2, last_message_id: newer.copy.message_id, subject: 'Older' })
    expect(thread.body.messages.map(({ subject }: { subject: string }) => subject)).toEqual(['Older', 'Newer'])
    expect(await firedTypes(older.copy.message_id)).toEqual(['message.stored', 'message.sent'])
    expect(await firedTypes(newer.copy.message_id)).toEqual(['message.stored'])
  })

  it('are told apart when some are early, some are about deleted messages, and one cannot be applied', async () => {
    const [placed, early, deleted, broken] = [
      await sentMessage(),
      await sentMessage(),
      await sentMessage(),
      await sentMessage(),
    ]
    await deliver(deleted.accepted)
    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(deleted.copy.message_id))
    const bad = { ...broken.handedOver, payload: { ...broken.handedOver.payload, timestamp: 'never' } } as MailSendEvent
    await deliverTogether(
      consumer,
      early.handedOver,
      placed.accepted,
      bad,
      early.delivered,
      deleted.delivered,
      placed.delivered,
    )
    expect(await labels(placed.copy.message_id)).toEqual(['sent', 'campaign', 'delivered'])
    expect(await stateOf(early.copy.message_id)).toMatchObject({ messages: 0, pending: 2, published: [] })
    expect(await stateOf(deleted.copy.message_id)).toMatchObject({ messages: 0, pending: 0 })
    expect(await firedTypes(deleted.copy.message_id)).not.toContain('message.delivered')
    await deliverTogether(consumer, early.accepted)
    expect(await firedTypes(early.copy.message_id)).toEqual(['message.stored', 'message.sent', 'message.delivered'])
  })

  it('store texts that are longer together than one statement takes', async () => {
    const text = LINE.repeat(4_000)
    const sent = await Promise.all(Array.from({ length: 40 }, () => sentMessage({ text })))
    await deliverTogether(consumer, ...sent.map(({ accepted }) => accepted))
    for (const { copy } of sent) expect((await get(copy.message_id)).body.text.length).toBeGreaterThan(150_000)
  })

  it('place large mails before the others, once', async () => {
    const [small, large] = [await sentMessage(), await sentMessage({ text: LINE.repeat(60_000) })]
    const again = { ...large.accepted, id: randomUUID() }
    await deliverTogether(consumer, small.accepted, large.accepted, again, large.handedOver, small.handedOver)
    await deliverTogether(consumer, large.accepted, large.delivered)
    const { body } = await get(large.copy.message_id)
    expect(body.text.length).toBeGreaterThan(2_000_000)
    expect(body.extracted_text).toBe('Our offer.')
    expect(await firedTypes(large.copy.message_id)).toEqual(['message.stored', 'message.sent', 'message.delivered'])
    expect(await firedTypes(small.copy.message_id)).toEqual(['message.stored', 'message.sent'])
  })
})
