import { randomUUID } from 'node:crypto'
import type { EventOf, topics } from '@restante/contracts'
import { deliverShuffled } from '@restante/messaging'
import { suppress } from '../src/suppression/store.ts'
import { tenancyConsumer } from '../src/tenancy/consumers.ts'
import { factOf, inboxCaller, startWorld, type World } from './support/world.ts'

type TenancyEvent = EventOf<(typeof topics)['tenancy']>

let world: World

beforeAll(async () => {
  world = await startWorld()
  world.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
}, 60_000)
afterAll(() => world.stop(), 30_000)

function deliver(seed: number, ...events: TenancyEvent[]): Promise<void> {
  return deliverShuffled(tenancyConsumer({ kafka: world.topics.kafka, db: world.db }), seed, ...events)
}

type SendingCaller = ReturnType<typeof inboxCaller>

function inboxDeleted({ organization_id, inbox }: SendingCaller): TenancyEvent {
  return {
    id: randomUUID(),
    type: 'inbox.deleted',
    subject: inbox.address,
    key: organization_id,
    time: new Date(),
    routing: { organizationId: organization_id, podId: inbox.pod_id, inboxUid: inbox.uid },
    payload: {
      organization_id,
      pod_id: inbox.pod_id,
      inbox_uid: inbox.uid,
      address: inbox.address,
      version: 2,
      deleted_at: new Date().toISOString(),
    },
  }
}

function organizationDeleted({ organization_id }: SendingCaller): TenancyEvent {
  return {
    id: randomUUID(),
    type: 'organization.deleted',
    subject: organization_id,
    key: organization_id,
    time: new Date(),
    routing: { organizationId: organization_id },
    payload: { organization_id, version: 3, deleted_at: new Date().toISOString() },
  }
}

async function sendWithKey(caller: SendingCaller, to: string, key = randomUUID()) {
  const answer = await world.call('messages.send', caller, { path: '/messages/send', body: { to }, key })
  return String(answer.body['message_id'])
}

const someone = () => `ann-${randomUUID().slice(0, 8)}@outside.example`

describe('when an inbox is deleted', () => {
  it('still delivers what was accepted, and forgets what only the inbox could ask for', async () => {
    const caller = inboxCaller()
    const sibling = { ...caller, inbox: inboxCaller().inbox }
    const to = someone()
    world.outside.answerRecipient(to, '450 4.2.0 later')
    const id = await sendWithKey(caller, to)
    await sendWithKey(sibling, someone())
    await deliver(1, inboxDeleted(caller))
    await factOf(world, id, 'delivery.delivered')
    expect(await world.db.orm.idempotencyKey.count({ where: { inboxUid: caller.inbox.uid } })).toBe(0)
    expect(await world.db.orm.idempotencyKey.count({ where: { inboxUid: sibling.inbox.uid } })).toBe(1)
    const asked = { inbox_uid: caller.inbox.uid, message_ids: [id] }
    expect((await world.internal('mail-send.getSentCopy', 'mail-ingest', asked)).body).toEqual({})
  })
})

describe('when an organization is deleted', () => {
  it.each([1, 2, 3])('forgets its keys, counts and blocked addresses, and nobody else’s (seed %i)', async (seed) => {
    const [caller, other] = [inboxCaller(), inboxCaller()]
    for (const { organization_id } of [caller, other])
      await suppress(world.db, organization_id, 'a@b.example', 'bounced')
    await sendWithKey(caller, someone())
    await deliver(seed, inboxDeleted(caller), organizationDeleted(caller))
    const { organization_id: organizationId } = caller
    expect(await world.db.orm.idempotencyKey.count({ where: { organizationId } })).toBe(0)
    expect(await world.db.orm.suppression.count({ where: { organizationId } })).toBe(0)
    expect(await world.db.orm.suppression.count({ where: { organizationId: other.organization_id } })).toBe(1)
  })
})
