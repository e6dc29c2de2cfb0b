import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type BlobStore, openBlobStore } from '@restante/blobs'
import type { EventOf, topics } from '@restante/contracts/events'
import { Schedule } from '@restante/jobs'
import { Outbox } from '@restante/messaging'
import { deliverShuffled } from '@restante/messaging/testing'
import { sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import type { Tenancy } from '@restante/tenancy'
import {
  countRows,
  inboxDeletedEvent,
  organizationDeletedEvent,
  organizationTakenOverEvent,
  podDeletedEvent,
  queryRows,
  waitFor,
} from '@restante/testkit'
import { outboundBlob } from '../../src/delivery/outbound/sends.ts'
import { listEntries } from '../../src/lists/store.ts'
import { openTenancy } from '../../src/tenancy/open-tenancy.ts'
import type { SendTimers } from '../../src/timers/kinds.ts'
import { type Fixture, factOf, inboxCaller, startWorld } from '../support/fixture.ts'
import { purgeAll } from '../support/purging.ts'

type TenancyEvent = EventOf<(typeof topics)['tenancy']>
type SendingCaller = ReturnType<typeof inboxCaller>

/** Tombstones of one organization that have been due for an hour, and one of another that is due now. */
const manyDeleted = sql<never, [large: string, small: string, count: number]>(`
insert into deleted_scopes (id, kind, organization_id, deleted_at, due_at)
select gen_random_uuid(), 'inbox', $1::uuid, now(), now() - interval '1 hour' from generate_series(1, $3::int)
union all
select gen_random_uuid(), 'inbox', $2::uuid, now(), now()`)

let fixture: Fixture
let blobs: BlobStore
/** Another process, which is not started: events are delivered to it, and it purges when a test says so. */
let tenancy: Tenancy

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
  blobs = await openBlobStore(fixture.config.blobStore)
  const { db, topics } = fixture
  const log = createLogger({ service: 'test', level: 'silent' })
  const outbox = new Outbox({ db, service: 'mail-send' })
  tenancy = openTenancy({ kafka: topics.kafka, db, log, outbox, blobs, timers: new Schedule<SendTimers>() })
})
afterAll(() => fixture.stop())

/** Delivers deletions as Kafka may, at its worst, and waits for the purge. */
async function deliver(seed: number, ...events: TenancyEvent[]): Promise<void> {
  await deliverShuffled(tenancy.consumer, seed, ...events)
  await purge()
}

const purge = () => purgeAll(fixture, tenancy)

const deletionOf = ({ organization_id: organizationId, inbox }: SendingCaller) =>
  inboxDeletedEvent({ organizationId, podId: inbox.pod_id, inboxUid: inbox.uid, address: inbox.address })

const trySend = (caller: SendingCaller, to: string, key = randomUUID()) =>
  fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'x' }, key })

async function send(caller: SendingCaller, to: string): Promise<{ messageId: string; id: string }> {
  const messageId = String((await trySend(caller, to)).body['message_id'])
  const text = 'select id from sends where message_id = $1'
  const [{ id } = { id: '' }] = await queryRows<{ id: string }>(fixture.db, text, messageId)
  return { messageId, id }
}

async function tombstoneOf({ inbox }: SendingCaller) {
  const text = 'select purged_at, ended_at from deleted_scopes where id = $1'
  return (await queryRows<{ purged_at: Date | null; ended_at: Date | null }>(fixture.db, text, inbox.uid))[0]
}

const someone = () => `ann-${randomUUID().slice(0, 8)}@outside.example`

describe('when an inbox is deleted', () => {
  it('still delivers accepted messages, and deletes what only the inbox could request', async () => {
    const caller = inboxCaller()
    const sibling = { ...caller, inbox: inboxCaller().inbox }
    const to = someone()
    fixture.outside.answerRecipient(to, '450 4.2.0 later')
    const { id, messageId } = await send(caller, to)
    const { id: others } = await send(sibling, someone())
    await deliver(1, deletionOf(caller))
    expect(await countRows(fixture.db, 'idempotency_keys where inbox_uid = $1', caller.inbox.uid)).toBe(0)
    expect(await countRows(fixture.db, 'idempotency_keys where inbox_uid = $1', sibling.inbox.uid)).toBe(1)
    const asked = { inbox_uid: caller.inbox.uid, message_ids: [messageId] }
    expect((await fixture.internal('mail-send.getSentCopy', 'mail-ingest', asked)).body).toEqual({})
    await factOf(fixture, messageId, 'delivery.delivered')
    await purge()
    expect(await blobs.exists(outboundBlob(id))).toBe(false)
    expect(await blobs.exists(outboundBlob(others))).toBe(true)
  })

  it('keeps the bytes of undelivered messages, and recipients for late reports', async () => {
    const caller = inboxCaller()
    fixture.zone.fail('waiting.example')
    const { id } = await send(caller, `ann-${randomUUID()}@waiting.example`)
    await deliver(1, deletionOf(caller))
    expect(await blobs.exists(outboundBlob(id))).toBe(true)
    expect(await countRows(fixture.db, 'deliveries where send_id = $1', id)).toBe(1)
    expect(await queryRows(fixture.db, 'select copy from sends where id = $1', id)).toEqual([{ copy: null }])
    expect(await tombstoneOf(caller)).toEqual({ purged_at: expect.any(Date), ended_at: null })
  })

  it('accepts nothing more for it, and stores nothing of refused messages', async () => {
    const caller = inboxCaller()
    await deliver(1, deletionOf(caller))
    expect(await trySend(caller, someone())).toMatchObject({ status: 404, body: { message: 'Inbox not found' } })
    const { uid: inboxUid } = caller.inbox
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1', inboxUid)).toBe(0)
    expect(await countRows(fixture.db, 'idempotency_keys where inbox_uid = $1', inboxUid)).toBe(0)
    expect(await countRows(fixture.db, 'pending_blobs')).toBe(0)
  })

  it('purges a message that was being accepted at the same time', async () => {
    const caller = inboxCaller()
    const { uid: inboxUid } = caller.inbox
    await Promise.all([
      ...Array.from({ length: 8 }, () => trySend(caller, someone())),
      deliver(1, deletionOf(caller)),
      deliver(2, deletionOf(caller)),
    ])
    await purge()
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1 and copy is not null', inboxUid)).toBe(0)
    expect(await countRows(fixture.db, 'idempotency_keys where inbox_uid = $1', inboxUid)).toBe(0)
  })

  it('reports to the gateway when it is purged, and learns of the deletion from it if necessary', async () => {
    const caller = inboxCaller()
    const { id } = await send(caller, someone())
    const ask = async () => {
      const { uid: inbox_uid, pod_id, address } = caller.inbox
      const inbox = { organization_id: caller.organization_id, pod_id, inbox_uid, address }
      const body = { ...inbox, deleted_at: new Date().toISOString() }
      return (await fixture.internal('mail-send.purgeInbox', 'gateway', body)).body['purged']
    }
    expect(await ask()).toBe(false)
    await waitFor(ask, { what: 'the purge' })
    expect(await queryRows(fixture.db, 'select copy from sends where id = $1', id)).toEqual([{ copy: null }])
  })
})

describe('when an organization is taken over', () => {
  const add = (caller: SendingCaller, entry: string) =>
    fixture.call('lists.create', caller, { path: '/lists/receive/block', body: { entry } })
  const left = (caller: SendingCaller) =>
    queryRows<{ entry: string }>(
      fixture.db,
      'select entry from list_entries where organization_id = $1 order by entry',
      caller.organization_id,
    )

  it.each([1, 2, 3])('ends the entries that earlier keys made, once a human confirms it (seed %i)', async (seed) => {
    const earlier = inboxCaller()
    const successor = { ...earlier, take_overs: 1 }
    const { organization_id: organizationId } = earlier
    await add(earlier, 'earlier.example')
    await add(successor, 'successor.example')
    await fixture.db.transaction((tx) => listEntries.suppress(tx, organizationId, 'a@b.example', 'bounced'))
    await deliverShuffled(tenancy.consumer, seed, organizationTakenOverEvent(organizationId, { takeOvers: 1 }))
    expect(await left(earlier)).toHaveLength(3)
    const confirmed = organizationTakenOverEvent(organizationId, { takeOvers: 1, verified: true })
    await deliverShuffled(tenancy.consumer, seed, confirmed)
    expect(await left(earlier)).toEqual([{ entry: 'a@b.example' }, { entry: 'successor.example' }])
    const deleted = await queryRows<{ payload: string }>(
      fixture.db,
      `select payload from outbox where topic = 'mail.lists' and type = 'list_entry.deleted' and key = $1`,
      organizationId,
    )
    expect(deleted.map(({ payload }) => JSON.parse(payload).entry)).toEqual(['earlier.example'])
    // A request that was admitted before the take-over arrives late.
    expect(await add(earlier, 'late.example')).toMatchObject({ status: 401, body: { code: 'unknown_api_key' } })
    expect(await left(earlier)).toHaveLength(2)
  })

  it('keeps an entry of an earlier key that the successor made again', async () => {
    const earlier = inboxCaller()
    await add(earlier, 'both.example')
    expect((await add({ ...earlier, take_overs: 1 }, 'both.example')).status).toBe(200)
    const confirmed = organizationTakenOverEvent(earlier.organization_id, { takeOvers: 1, verified: true })
    await deliverShuffled(tenancy.consumer, 1, confirmed)
    expect(await left(earlier)).toEqual([{ entry: 'both.example' }])
  })

  it('ends thousands of entries', async () => {
    const { organization_id: organizationId } = inboxCaller()
    await queryRows(
      fixture.db,
      `insert into list_entries (id, tier, scope_id, organization_id, direction, type, entry, entry_type)
       select gen_random_uuid(), 'organization', $1, $1, 'reply', 'block', number || '.example', 'domain'
         from generate_series(1, 2100) as number`,
      organizationId,
    )
    const confirmed = organizationTakenOverEvent(organizationId, { takeOvers: 1, verified: true })
    await deliverShuffled(tenancy.consumer, 1, confirmed)
    expect(await countRows(fixture.db, 'list_entries where organization_id = $1', organizationId)).toBe(0)
    const events = `outbox where type = 'list_entry.deleted' and key = $1`
    expect(await countRows(fixture.db, events, organizationId)).toBe(2_100)
  })
})

describe('when a pod is deleted', () => {
  it.each([1, 2, 3])('deletes its list entries, and no others (seed %i)', async (seed) => {
    const { inbox, ...organization } = inboxCaller()
    const pod = { ...organization, pod_id: inbox.pod_id }
    const body = { entry: 'x.example' }
    for (const caller of [organization, pod])
      expect((await fixture.call('lists.create', caller, { path: '/lists/reply/allow', body })).status).toBe(200)
    await deliver(seed, podDeletedEvent(organization.organization_id, pod.pod_id))
    const counted = `list_entries where organization_id = $1 and tier = $2`
    expect(await countRows(fixture.db, counted, organization.organization_id, 'pod')).toBe(0)
    expect(await countRows(fixture.db, counted, organization.organization_id, 'organization')).toBe(1)
    const late = await fixture.call('lists.create', pod, { path: '/lists/reply/allow', body })
    expect(late).toMatchObject({ status: 404, body: { message: 'Pod not found' } })
  })
})

describe('the purge metrics', () => {
  const waiting = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${fixture.config.metrics?.port}/metrics`)).text()
    const read = (name: string) => Number(new RegExp(`^${name}{of="inbox"} (.+)$`, 'm').exec(metrics)?.[1])
    return { inboxes: read('restante_purges_waiting'), oldest: read('restante_purges_oldest_seconds') }
  }

  it('count the inboxes that are still to be purged, but not those that wait for deliveries', async () => {
    const [stuck, delivering] = [randomUUID(), randomUUID()]
    const hourAgo = new Date(Date.now() - 3_600_000)
    await queryRows(
      fixture.db,
      `insert into deleted_scopes (id, kind, purged_at, organization_id, deleted_at, due_at)
       select uid, 'inbox', purged_at, $3, $4, now() + interval '1 hour'
         from (values ($1::uuid, null), ($2::uuid, $4::timestamptz)) as given (uid, purged_at)`,
      ...[stuck, delivering, randomUUID(), hourAgo],
    )
    const unpurged = () => countRows(fixture.db, 'deleted_scopes where purged_at is null')
    await waitFor(async () => (await unpurged()) === 1, { what: 'the purges of other tests' })
    const isReported = async () => {
      const { inboxes, oldest } = await waiting()
      return inboxes === 1 && oldest >= 3_600
    }
    await waitFor(isReported, { what: 'a metric of one inbox that has waited for an hour' })
    await purge()
    await waitFor(async () => (await waiting()).inboxes === 0, { what: 'nothing to wait' })
  })
})

describe('when another organization deletes many inboxes', () => {
  it('purges one that was deleted later without waiting for them', async () => {
    const { db } = fixture
    const [large, small] = [randomUUID(), randomUUID()]
    await db.query(manyDeleted, large, small, 200)
    const open = 'deleted_scopes where organization_id = any($1) and ended_at is null'
    await waitFor(async () => (await countRows(db, open, [large, small])) === 0, { what: 'all purges' })
    const before = 'ended_at < (select ended_at from deleted_scopes where organization_id = $2)'
    const earlier = await countRows(db, `deleted_scopes where organization_id = $1 and ${before}`, large, small)
    expect(earlier).toBeLessThan(10)
  })
})

describe('when the purge of an inbox fails', () => {
  it('goes on with the other inboxes', async () => {
    const [stuck, other] = [inboxCaller(), inboxCaller()]
    for (const caller of [stuck, other]) {
      const { id, messageId } = await send(caller, someone())
      await factOf(fixture, messageId, 'delivery.delivered')
      if (caller === stuck) await putInTheWay(id)
    }
    await deliverShuffled(tenancy.consumer, 1, deletionOf(stuck))
    await deliverShuffled(tenancy.consumer, 1, deletionOf(other))
    const ended = async () => (await tombstoneOf(other))?.ended_at
    await waitFor(
      () =>
        tenancy
          .purge()
          .catch(() => {})
          .then(ended),
      { what: 'the purge of the other' },
    )
    expect(await tombstoneOf(stuck)).toMatchObject({ purged_at: null })
    await rm(inTheWay, { recursive: true })
    // The service may have tried it just before, and put it off a moment later.
    await waitFor(() => purge().then(async () => (await tombstoneOf(stuck))?.ended_at), { what: 'its own purge' })
  })

  let inTheWay = ''
  /** Keeps the store from deleting the bytes of a message. */
  async function putInTheWay(id: string): Promise<void> {
    const files = await readdir(fixture.blobs, { recursive: true, withFileTypes: true })
    const found = files.find((file) => file.isFile() && file.name === path.basename(outboundBlob(id)))
    if (!found) throw new Error('the message has no bytes')
    inTheWay = path.join(found.parentPath, found.name)
    await rm(inTheWay)
    await mkdir(path.join(inTheWay, 'in the way'), { recursive: true })
  }
})

describe('when an organization is deleted', () => {
  it.each([1, 2, 3])('deletes its keys, counts and suppressed addresses, and no others (seed %i)', async (seed) => {
    const [caller, other] = [inboxCaller(), inboxCaller()]
    for (const { organization_id } of [caller, other])
      await fixture.db.transaction((tx) => listEntries.suppress(tx, organization_id, 'a@b.example', 'bounced'))
    const { messageId } = await send(caller, someone())
    await factOf(fixture, messageId, 'delivery.delivered')
    const { organization_id: organizationId } = caller
    const refused = someone()
    fixture.outside.answerRecipient(refused, '550 refused')
    await factOf(fixture, (await send(caller, refused)).messageId, 'delivery.bounced')
    expect(await countRows(fixture.db, 'refusals where organization_id = $1', organizationId)).toBe(1)
    await deliver(seed, deletionOf(caller), organizationDeletedEvent(organizationId))
    await purge()
    expect(await countRows(fixture.db, 'idempotency_keys where organization_id = $1', organizationId)).toBe(0)
    expect(await countRows(fixture.db, 'list_entries where organization_id = $1', organizationId)).toBe(0)
    expect(await countRows(fixture.db, 'refusals where organization_id = $1', organizationId)).toBe(0)
    expect(await countRows(fixture.db, 'sends where organization_id = $1', organizationId)).toBe(0)
    expect(await countRows(fixture.db, 'list_entries where organization_id = $1', other.organization_id)).toBe(1)
  })

  it('deletes what is counted of it', async () => {
    const { organization_id: organizationId, inbox } = inboxCaller()
    const counted = [
      "insert into recipient_ramps (organization_id, recipients, ends_at) values ($1, 1, now() + interval '1 day')",
      "insert into reputation_counts values ($1, date_trunc('hour', now()), 0, 1, 1, 1)",
      'insert into reputations values ($1, now(), now())',
      "insert into known_recipients (organization_id, hash) values ($1, '\\x00')",
      `insert into send_counts (tier, scope_id, window_seconds, starts_at, organization_id, recipients)
       values ('organization', $1, 3600, now(), $1, 1)`,
    ]
    for (const text of counted) await queryRows(fixture.db, text, organizationId)
    const caller = inboxCaller({ organization_id: organizationId, inbox })
    await deliver(1, deletionOf(caller), organizationDeletedEvent(organizationId))
    const tables = await queryRows<{ name: string }>(
      fixture.db,
      "select table_name as name from information_schema.columns where column_name = 'organization_id'",
    )
    const left = await Promise.all(
      tables.map(async ({ name }) => [
        name,
        await countRows(fixture.db, `${name} where organization_id = $1`, organizationId),
      ]),
    )
    // Tombstones, of the inbox and of the organization, stay: requests in transit are refused.
    expect(left.filter(([, rows]) => rows !== 0)).toEqual([['deleted_scopes', 2]])
  })

  it('delivers messages accepted before, and then deletes them, with the suppressions that follow', async () => {
    const caller = inboxCaller()
    const to = someone()
    fixture.outside.answerRecipient(to, '450 4.2.0 later', '550 5.1.1 nobody')
    const { id, messageId } = await send(caller, to)
    const { organization_id: organizationId } = caller
    await deliver(1, deletionOf(caller), organizationDeletedEvent(organizationId))
    await factOf(fixture, messageId, 'delivery.bounced')
    await purge()
    expect(await countRows(fixture.db, 'sends where id = $1', id)).toBe(0)
    expect(await countRows(fixture.db, 'list_entries where organization_id = $1', organizationId)).toBe(0)
  })
})
