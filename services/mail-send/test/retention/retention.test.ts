import { randomUUID } from 'node:crypto'
import { type BlobStore, openBlobStore } from '@restante/blobs'
import { createLogger } from '@restante/service/telemetry'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { announceBlob } from '../../src/delivery/outbound/pending-blobs.ts'
import { outboundBlob } from '../../src/delivery/outbound/sends.ts'
import { Sweeper } from '../../src/retention/sweeper.ts'
import { type Fixture, factOf, inboxCaller, startWorld } from '../support/fixture.ts'

let fixture: Fixture
let blobs: BlobStore
let sweeper: Sweeper

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
  blobs = await openBlobStore(fixture.config.blobStore)
  const log = createLogger({ service: 'test', level: 'silent' })
  sweeper = new Sweeper({ db: fixture.db, blobs, log })
})
afterAll(() => fixture.stop())

const days = (count: number) => new Date(Date.now() - count * 24 * 3_600_000)

async function sent(to: string) {
  const caller = inboxCaller()
  const body = { to, text: 'x' }
  const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body, key: randomUUID() })
  const messageId = String(answer.body['message_id'])
  const text = 'select id from sends where message_id = $1'
  const [{ id } = { id: '' }] = await queryRows<{ id: string }>(fixture.db, text, messageId)
  return { caller, messageId, id }
}

describe('the sweeper', () => {
  it('deletes the content of a finished message after a week, and the delivery after 90 days', async () => {
    const { id, messageId } = await sent(`ann-${randomUUID()}@outside.example`)
    await factOf(fixture, messageId, 'delivery.delivered')
    await sweeper.sweep()
    expect(await blobs.exists(outboundBlob(id))).toBe(true)
    await queryRows(fixture.db, 'update sends set accepted_at = $2 where id = $1', id, days(8))
    await sweeper.sweep()
    expect(await blobs.exists(outboundBlob(id))).toBe(false)
    expect(await queryRows(fixture.db, 'select copy from sends where id = $1', id)).toEqual([{ copy: null }])
    await queryRows(fixture.db, 'update sends set accepted_at = $2 where id = $1', id, days(91))
    await sweeper.sweep()
    expect(await countRows(fixture.db, 'deliveries where send_id = $1', id)).toBe(0)
  })

  it('keeps undelivered messages, however old', async () => {
    fixture.zone.fail('stuck.example')
    const { id } = await sent(`ann-${randomUUID()}@stuck.example`)
    // Retries end long before content is deleted: this one is not made.
    const postpone = `update timers set due_at = now() + interval '1 hour'
       where starts_with(key, $1) and lease_id is null and attempt > 0 returning id`
    await waitFor(async () => (await queryRows(fixture.db, postpone, id)).length > 0, { what: 'a first attempt' })
    await queryRows(fixture.db, 'update sends set accepted_at = $2 where id = $1', id, days(91))
    await sweeper.sweep()
    expect(await blobs.exists(outboundBlob(id))).toBe(true)
    expect(await countRows(fixture.db, 'deliveries where send_id = $1', id)).toBe(1)
  })

  it('deletes a code mail and its address two days after it was sent, when its code has long expired', async () => {
    const [id, stuck] = [randomUUID(), randomUUID()]
    const to = `ann-${id}@outside.example`
    fixture.zone.fail('stuck-too.example')
    const mails = [
      { id, to },
      { id: stuck, to: `ann-${id}@stuck-too.example` },
    ]
    for (const mail of mails) {
      const text = { subject: 'Your code', text: 'It is 123456.' }
      await fixture.internal('mail-send.sendSystemMail', 'gateway', { ...mail, ...text })
    }
    await fixture.outside.next(to)
    const delivered = () => countRows(fixture.db, `deliveries where recipient = $1 and state = 'delivered'`, to)
    await waitFor(async () => (await delivered()) > 0, { what: 'the delivery to be settled' })
    const sends = async () =>
      (await queryRows<{ id: string }>(fixture.db, 'select id from sends where id = any($1)', [id, stuck])).map(
        (row) => row.id,
      )
    const age = (count: number) =>
      queryRows(fixture.db, 'update sends set accepted_at = $2 where id = any($1)', [id, stuck], days(count))
    await age(1)
    await sweeper.sweep()
    expect(new Set(await sends())).toEqual(new Set([id, stuck]))
    await age(2)
    await sweeper.sweep()
    expect(await sends()).toEqual([stuck])
    expect(await blobs.exists(outboundBlob(id))).toBe(false)
    expect(await countRows(fixture.db, 'deliveries where recipient = $1', to)).toBe(0)
  })

  it('removes the blob of a message that was never accepted, and no other', async () => {
    const [orphan, writing] = [randomUUID(), randomUUID()]
    const { id: accepted } = await sent(`ann-${randomUUID()}@outside.example`)
    for (const id of [orphan, writing, accepted]) await announceBlob(fixture.db, id)
    for (const id of [orphan, writing]) await blobs.put(outboundBlob(id), Buffer.from('x'))
    await queryRows(
      fixture.db,
      'update pending_blobs set created_at = $2 where send_id = any($1)',
      [orphan, accepted],
      days(1),
    )
    await sweeper.sweep()
    const left = await Promise.all([orphan, writing, accepted].map((id) => blobs.exists(outboundBlob(id))))
    expect(left).toEqual([false, true, true])
    expect(await queryRows(fixture.db, 'select send_id from pending_blobs')).toEqual([{ send_id: writing }])
  })

  it('deletes idempotency keys a day after completion, claims of dead processes, counts of past windows, and old refusals', async () => {
    const { caller } = await sent(`ann-${randomUUID()}@outside.example`)
    const { organization_id: organizationId } = caller
    await queryRows(
      fixture.db,
      `insert into send_counts (tier, scope_id, window_seconds, starts_at, organization_id, recipients)
       select 'organization', $1::uuid, 86400, starts_at, $1::uuid, 3 from unnest($2::timestamptz[]) as starts_at`,
      organizationId,
      [days(5), days(0)],
    )
    const refused = 'insert into refusals (organization_id, address, send_id, refused_at) values ($1, $2, $1, $3)'
    await queryRows(fixture.db, refused, organizationId, 'old@b.example', days(31))
    await queryRows(fixture.db, refused, organizationId, 'new@b.example', days(29))
    const keys = () => countRows(fixture.db, 'idempotency_keys where organization_id = $1', organizationId)
    await sweeper.sweep()
    expect(await keys()).toBe(1)
    await queryRows(
      fixture.db,
      'update idempotency_keys set completed_at = $2 where organization_id = $1',
      organizationId,
      days(1),
    )
    await sweeper.sweep()
    expect(await keys()).toBe(0)
    expect(await countRows(fixture.db, 'send_counts where organization_id = $1', organizationId)).toBe(1)
    const left = 'select address from refusals where organization_id = $1'
    expect(await queryRows(fixture.db, left, organizationId)).toEqual([{ address: 'new@b.example' }])
  })
})
