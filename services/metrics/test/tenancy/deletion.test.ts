import { randomUUID } from 'node:crypto'
import { COUNTED_EVENT_TYPES } from '@restante/contracts/vocabulary'
import { countRows, type InboxScope, inboxScope, waitFor } from '@restante/testkit'
import { type MetricsFixture, startMetrics, type View } from '../support/fixture.ts'
import { created, deleted, delivery, domainCreated, mail, storage } from '../support/happenings.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const BASE = Math.floor(Date.now() / HOUR - 6) * HOUR

let metrics: MetricsFixture
beforeAll(async () => {
  metrics = await startMetrics()
})
afterAll(() => metrics.stop())

const at = (ms: number) => new Date(BASE + ms)
const TABLES = ['arrivals', 'runs', 'totals'] as const
const MAIL = COUNTED_EVENT_TYPES.filter((type) => type !== 'domain.verified')

/** An inbox in a pod of its own, in which a message was stored, sent and delivered, one hour ago. */
async function used(scope: InboxScope): Promise<void> {
  await metrics.count(
    created('pod', scope, at(0)),
    created('inbox', scope, at(0)),
    mail(scope, 'message.received', at(1)),
    mail(scope, 'message.sent', at(2)),
    storage(scope, 'message.stored', at(1), { size: 700 }),
    storage(scope, 'message.stored', at(2), { size: 300, thread: false }),
    delivery(scope, 'delivery.handed_over', at(2), 5),
  )
}

async function remove(kind: 'inbox' | 'pod' | 'organization', scope: InboxScope): Promise<void> {
  await metrics.count(deleted(kind, scope, at(2 * HOUR)))
  await purged()
}

function purged(): Promise<unknown> {
  const isPurged = async () => (await countRows(metrics.db, 'deleted_scopes where ended_at is null')) === 0
  return waitFor(isPurged, { what: 'the deleted scopes to be purged' })
}

async function rowsOf(id: string): Promise<number> {
  const rows = await Promise.all(TABLES.map((table) => countRows(metrics.db, `${table} where scope_id = $1`, id)))
  return rows.reduce((sum, count) => sum + count, 0)
}

async function usage(scope: InboxScope, view: View): Promise<Record<string, (number | undefined)[]>> {
  const start = at(0).toISOString()
  const query = { start, end: at(4 * HOUR).toISOString() }
  const found = await metrics.read('metrics.listUsage', scope, view, query)
  return Object.fromEntries(Object.entries(found).map(([type, entries]) => [type, entries.map(({ value }) => value)]))
}

async function counted(scope: InboxScope, view: View): Promise<Record<string, number>> {
  const found = await metrics.read('metrics.listEvents', scope, view)
  return Object.fromEntries(Object.entries(found).map(([type, entries]) => [type, entries.length]))
}

describe('a deleted inbox', () => {
  it('stays in the history of its pod and organization, and leaves their usage at the deletion', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    await used(scope)
    await metrics.settler.settle()
    await remove('inbox', scope)
    for (const view of ['pod', 'organization'] as const) {
      expect(await counted(scope, view)).toMatchObject({ 'message.received': 1, 'message.sent': 1 })
      expect(await usage(scope, view)).toMatchObject({
        storage_bytes: [0, 1_000, 0, 0],
        message_count: [0, 2, 0, 0],
        thread_count: [0, 1, 0, 0],
        inbox_count: [1, 1, 0, 0],
      })
    }
    expect(await rowsOf(scope.inboxUid)).toBe(0)
    expect((await counted(scope, 'inbox'))['message.sent']).toBe(0)
  })

  it('counts above it, and not for it, what becomes known later', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    await used(scope)
    await remove('inbox', scope)
    await metrics.count(
      mail(scope, 'message.delivered', at(3), true),
      mail(scope, 'message.bounced', at(3)),
      storage(scope, 'message.stored', at(HOUR), { size: 50 }),
      storage(scope, 'message.deleted', at(3 * HOUR), { size: 700, thread: true }),
    )
    for (const view of ['pod', 'organization'] as const) {
      expect(await counted(scope, view)).toMatchObject({ 'message.delivered': 1, 'message.bounced': 1 })
      expect(await usage(scope, view)).toMatchObject({ storage_bytes: [0, 1_050, 0, 0], message_count: [0, 3, 0, 0] })
    }
    expect(await rowsOf(scope.inboxUid)).toBe(0)
  })

  it('ends in the same counts when its deletion becomes known before everything else', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    await remove('inbox', scope)
    await used(scope)
    await metrics.settler.settle()
    for (const view of ['pod', 'organization'] as const) {
      expect(await usage(scope, view)).toMatchObject({ storage_bytes: [0, 1_000, 0, 0], inbox_count: [1, 1, 0, 0] })
    }
    expect(await rowsOf(scope.inboxUid)).toBe(0)
  })

  it('takes out what happened after it at its own time, as if it had become known after the deletion', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    const happened = [
      storage(scope, 'message.stored', at(1), { size: 700 }),
      storage(scope, 'message.deleted', at(3 * HOUR), { size: 700 }),
    ]
    await metrics.count(...happened)
    await remove('inbox', scope)
    expect(await usage(scope, 'pod')).toMatchObject({ storage_bytes: [0, 700, 0, 0] })
    expect(await usage(scope, 'organization')).toMatchObject({ message_count: [0, 1, 0, 0] })
  })

  it('leaves the usage of its pod once, however many batches its deletion takes', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    const [before, deletion] = [at(-DAY), at(-DAY + HOUR)]
    const days = Array.from({ length: 115 }, (_, day) => at(-(day + 2) * DAY))
    await metrics.count(
      storage(scope, 'message.stored', before, { size: 700 }),
      ...days.flatMap((day) => MAIL.map((type) => mail(scope, type, day))),
    )
    await metrics.settler.settle()
    // One batch deletes 1,000 of them.
    expect(await countRows(metrics.db, 'runs where scope_id = $1', scope.inboxUid)).toBeGreaterThan(1_000)
    await metrics.count(deleted('inbox', scope, deletion))
    await purged()
    const query = { start: before.toISOString(), end: new Date(before.getTime() + 3 * HOUR).toISOString() }
    for (const view of ['pod', 'organization'] as const) {
      const { storage_bytes } = await metrics.read('metrics.listUsage', scope, view, query)
      expect(storage_bytes?.map(({ value }) => value)).toEqual([700, 0, 0])
    }
  })

  it('leaves the usage of its pod although only its events were known', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    await metrics.count(storage(scope, 'message.stored', at(1), { size: 700 }))
    await remove('inbox', scope)
    expect(await usage(scope, 'pod')).toMatchObject({ storage_bytes: [0, 700, 0, 0] })
    expect(await usage(scope, 'organization')).toMatchObject({ storage_bytes: [0, 700, 0, 0] })
  })
})

describe('a deleted pod', () => {
  it('stays in the history of the organization, whose usage it has left', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    await used(scope)
    await remove('inbox', scope)
    await remove('pod', scope)
    expect(await counted(scope, 'organization')).toMatchObject({ 'message.received': 1, 'message.sent': 1 })
    expect(await usage(scope, 'organization')).toMatchObject({
      storage_bytes: [0, 1_000, 0, 0],
      pod_count: [1, 1, 0, 0],
      inbox_count: [1, 1, 0, 0],
    })
    expect(await rowsOf(scope.podId)).toBe(0)
    await metrics.count(mail(scope, 'message.bounced', at(3), true))
    expect((await counted(scope, 'organization'))['message.bounced']).toBe(1)
    expect(await rowsOf(scope.podId)).toBe(0)
  })
})

describe('a deleted organization', () => {
  it.each(['before', 'after', 'without'] as const)('leaves nothing, its inboxes deleted %s it', async (order) => {
    const organizationId = randomUUID()
    const [scope, other] = [inboxScope({ organizationId, podId: randomUUID() }), inboxScope({ organizationId })]
    await used(scope)
    await metrics.settler.settle()
    await used(other)
    await metrics.count(domainCreated({ organizationId, domainUid: randomUUID() }, at(0)))
    const inboxes = async () => {
      await remove('inbox', scope)
      await remove('inbox', other)
    }
    if (order === 'before') await inboxes()
    await remove('organization', scope)
    if (order === 'after') await inboxes()
    await metrics.count(mail(scope, 'message.bounced', at(3)), created('inbox', inboxScope({ organizationId }), at(3)))
    for (const id of [organizationId, scope.podId, scope.inboxUid, other.inboxUid]) expect(await rowsOf(id)).toBe(0)
    if (order !== 'after')
      expect(await countRows(metrics.db, 'entities where organization_id = $1', organizationId)).toBe(0)
  })
})
