import { randomUUID } from 'node:crypto'
import { type BlobStore, openBlobStore } from '@restante/blobs'
import { createLogger } from '@restante/service'
import { waitFor } from '@restante/testkit'
import { announceBlob } from '../src/delivery/outbound-queue.ts'
import { outboundBlob } from '../src/delivery/store.ts'
import { Sweeper } from '../src/retention/sweeper.ts'
import { factOf, inboxCaller, startWorld, type World } from './support/world.ts'

let world: World
let blobs: BlobStore
let sweeper: Sweeper

beforeAll(async () => {
  world = await startWorld()
  world.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
  blobs = await openBlobStore(world.config.blobStore)
  const log = createLogger({ service: 'test', level: 'silent' })
  sweeper = new Sweeper({ db: world.db, blobs, log })
}, 60_000)
afterAll(() => world.stop(), 30_000)

const days = (count: number) => new Date(Date.now() - count * 24 * 3_600_000)

async function sent(to: string) {
  const caller = inboxCaller()
  const body = { to, text: 'x' }
  const answer = await world.call('messages.send', caller, { path: '/messages/send', body, key: randomUUID() })
  const messageId = String(answer.body['message_id'])
  const { id } = await world.db.orm.send.findFirstOrThrow({ where: { messageId } })
  return { caller, messageId, id }
}

describe('the sweeper', () => {
  it('deletes the content of a finished message after a week, and the delivery after 90 days', async () => {
    const { id, messageId } = await sent(`ann-${randomUUID()}@outside.example`)
    await factOf(world, messageId, 'delivery.delivered')
    await sweeper.sweep()
    expect(await blobs.exists(outboundBlob(id))).toBe(true)
    await world.db.orm.send.update({ where: { id }, data: { acceptedAt: days(8) } })
    await sweeper.sweep()
    expect(await blobs.exists(outboundBlob(id))).toBe(false)
    expect(await world.db.orm.send.findUnique({ where: { id } })).toMatchObject({ copy: null })
    await world.db.orm.send.update({ where: { id }, data: { acceptedAt: days(91) } })
    await sweeper.sweep()
    expect(await world.db.orm.delivery.count({ where: { sendId: id } })).toBe(0)
  })

  it('keeps undelivered messages, however old', async () => {
    world.zone.fail('stuck.example')
    const { id } = await sent(`ann-${randomUUID()}@stuck.example`)
    await world.db.orm.send.update({ where: { id }, data: { acceptedAt: days(2) } })
    await sweeper.sweep()
    expect(await blobs.exists(outboundBlob(id))).toBe(true)
  })

  it('deletes a code mail and its address two days after it was sent, when its code has long expired', async () => {
    const [id, stuck] = [randomUUID(), randomUUID()]
    const to = `ann-${id}@outside.example`
    world.zone.fail('stuck-too.example')
    const mails = [
      { id, to },
      { id: stuck, to: `ann-${id}@stuck-too.example` },
    ]
    for (const mail of mails) {
      const text = { subject: 'Your code', text: 'It is 123456.' }
      await world.internal('mail-send.sendSystemMail', 'gateway', { ...mail, ...text })
    }
    await world.outside.next(to)
    const isDelivered = () => world.db.orm.delivery.findFirst({ where: { recipient: to, state: 'delivered' } })
    await waitFor(isDelivered, { what: 'the delivery to be settled' })
    const sends = async () =>
      (await world.db.orm.send.findMany({ where: { id: { in: [id, stuck] } } })).map((row) => row.id)
    const age = (count: number) =>
      world.db.orm.send.updateMany({ where: { id: { in: [id, stuck] } }, data: { acceptedAt: days(count) } })
    await age(1)
    await sweeper.sweep()
    expect(new Set(await sends())).toEqual(new Set([id, stuck]))
    await age(2)
    await sweeper.sweep()
    expect(await sends()).toEqual([stuck])
    expect(await blobs.exists(outboundBlob(id))).toBe(false)
    expect(await world.db.orm.delivery.count({ where: { recipient: to } })).toBe(0)
  })

  it('removes the blob of a message that was never accepted, and no other', async () => {
    const [orphan, writing] = [randomUUID(), randomUUID()]
    const { id: accepted } = await sent(`ann-${randomUUID()}@outside.example`)
    for (const id of [orphan, writing, accepted]) await announceBlob(world.db, id)
    for (const id of [orphan, writing]) await blobs.put(outboundBlob(id), Buffer.from('x'))
    await world.db.orm.pendingBlob.updateMany({
      where: { sendId: { in: [orphan, accepted] } },
      data: { createdAt: days(1) },
    })
    await sweeper.sweep()
    const left = await Promise.all([orphan, writing, accepted].map((id) => blobs.exists(outboundBlob(id))))
    expect(left).toEqual([false, true, true])
    expect(await world.db.orm.pendingBlob.findMany()).toMatchObject([{ sendId: writing }])
  })

  it('deletes idempotency keys a day after completion, claims of dead processes, and counts of past days', async () => {
    const { caller } = await sent(`ann-${randomUUID()}@outside.example`)
    const { organization_id: organizationId } = caller
    await world.db.orm.dailyCount.create({ data: { organizationId, day: days(5), recipients: 3 } })
    const keys = () => world.db.orm.idempotencyKey.count({ where: { organizationId } })
    await sweeper.sweep()
    expect(await keys()).toBe(1)
    await world.db.orm.idempotencyKey.updateMany({ where: { organizationId }, data: { completedAt: days(1) } })
    await sweeper.sweep()
    expect(await keys()).toBe(0)
    expect(await world.db.orm.dailyCount.count({ where: { organizationId } })).toBe(0)
  })
})
