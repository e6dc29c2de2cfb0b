import { randomUUID } from 'node:crypto'
import { type Deletion, Tombstones } from '@restante/tenancy'
import { countRows, type InboxScope, inboxScope, queryRows, waitFor } from '@restante/testkit'
import { codeOf, DAY_MS } from '../../src/series/series.ts'
import { type MetricsFixture, startMetrics, type View } from '../support/fixture.ts'
import { created, deleted, delivery, type Happening, mail, storage } from '../support/happenings.ts'

const HOUR = 3_600_000
const BASE = Math.floor(Date.now() / HOUR - 6) * HOUR
const at = (ms: number) => new Date(BASE + ms)
/** When everything is said to have reached Kafka: a rebuild begins with this day. */
const WRITTEN = at(-2 * DAY_MS)

type Kind = 'inbox' | 'pod' | 'organization'

let metrics: MetricsFixture
beforeAll(async () => {
  metrics = await startMetrics(() => WRITTEN)
})
afterAll(() => metrics.stop())

/** What happens in an inbox before a rebuild begins. */
function before(scope: InboxScope): Happening[] {
  return [
    created('pod', scope, at(0)),
    created('inbox', scope, at(0)),
    mail(scope, 'message.received', at(1)),
    storage(scope, 'message.stored', at(1), { size: 700 }),
    delivery(scope, 'delivery.handed_over', at(2), 5),
  ]
}

/** What happens in it while one runs. */
function during(scope: InboxScope): Happening[] {
  return [
    mail(scope, 'message.sent', at(HOUR)),
    storage(scope, 'message.stored', at(HOUR), { size: 300, thread: false }),
  ]
}

/** What becomes known of it when it is deleted. */
function late(scope: InboxScope): Happening[] {
  return [mail(scope, 'message.bounced', at(2), true), storage(scope, 'message.stored', at(2), { size: 50 })]
}

/** Deletes what was counted of events for an organization and its inboxes: only a rebuild finds it again. */
async function lose(...ids: string[]): Promise<void> {
  const entities = (['inbox_count', 'pod_count', 'domain_count'] as const).map(codeOf)
  for (const table of ['arrivals', 'runs', 'totals'])
    await queryRows(metrics.db, `delete from ${table} where scope_id = any($1) and series <> all($2)`, ids, entities)
}

/** Starts a rebuild that reads nothing yet, as if another process held its lease. @returns what has it go on. */
async function beginRebuild(): Promise<() => Promise<void>> {
  await queryRows(
    metrics.db,
    `insert into leases (name, holder, until) values ('rebuild', $1, now() + interval '1 hour')`,
    randomUUID(),
  )
  const response = await metrics.internal('metrics.startRebuild', { operator: 'ada' })
  expect(await response.json()).toMatchObject({ started: true, rebuild: { state: 'reading' } })
  return async () => {
    await queryRows(metrics.db, "delete from leases where name = 'rebuild'")
    const isRunning = () => countRows(metrics.db, "rebuilds where state = 'reading'")
    await waitFor(async () => (await isRunning()) === 0, { what: 'the rebuild to switch over' })
    expect(await countRows(metrics.db, "rebuilds where state <> 'switched'")).toBe(0)
  }
}

/** Stores the tombstones of deletions whose purge has to wait, as after a batch that failed. @returns what has it go on. */
async function postponePurge(deletions: readonly Deletion[]): Promise<() => Promise<void>> {
  const ids = deletions.map(({ id }) => id)
  await metrics.db.transaction(async (tx) => {
    for (const deletion of deletions) await new Tombstones({ keepsPods: true }).store(tx, deletion)
    await queryRows(tx, "update deleted_scopes set due_at = now() + interval '1 hour' where id = any($1)", ids)
  })
  return async () => {
    await queryRows(metrics.db, 'update deleted_scopes set due_at = now() where id = any($1)', ids)
  }
}

function purged(): Promise<unknown> {
  const isPurged = async () => (await countRows(metrics.db, 'deleted_scopes where ended_at is null')) === 0
  return waitFor(isPurged, { what: 'the deleted scopes to be purged' })
}

/** What a deletion of this kind deletes, as the gateway reports it: a pod is deleted after its inboxes. */
function deletionsOf(kind: Kind, scope: InboxScope): { readonly deletion: Deletion; readonly event: Happening }[] {
  const { organizationId: organization_id, podId: pod_id, inboxUid } = scope
  const kinds: Kind[] = kind === 'pod' ? ['inbox', 'pod'] : [kind]
  const ids = { inbox: inboxUid, pod: pod_id, organization: organization_id }
  return kinds.map((of) => {
    const deletion = { kind: of, id: ids[of], organization_id, deleted_at: at(2 * HOUR).toISOString() }
    return {
      deletion: of === 'inbox' ? { ...deletion, pod_id } : deletion,
      event: deleted(of, scope, at(2 * HOUR)),
    }
  })
}

async function rowsOf(ids: readonly string[]): Promise<number> {
  const tables = ['arrivals', 'runs', 'totals', 'adjustments', 'rebuilt']
  const rows = await Promise.all(tables.map((table) => countRows(metrics.db, `${table} where scope_id = any($1)`, ids)))
  return rows.reduce((sum, count) => sum + count, 0)
}

/** Events of each type, and usage hour by hour. */
async function answers(scope: InboxScope, view: View) {
  const events = await metrics.read('metrics.listEvents', scope, view)
  const range = { start: at(0).toISOString(), end: at(4 * HOUR).toISOString() }
  const usage = await metrics.read('metrics.listUsage', scope, view, range)
  const rates = await metrics.read('metrics.listRates', scope, view, { ...range, period: '3600' })
  return {
    received: events['message.received']?.length,
    sent: events['message.sent']?.length,
    bounced: events['message.bounced']?.length,
    bytes: usage['storage_bytes']?.map(({ value }) => value),
    messages: usage['message_count']?.map(({ value }) => value),
    inboxes: usage['inbox_count']?.map(({ value }) => value),
    handedOver: rates['bounce']?.at(-1)?.sent,
  }
}

/** Both inboxes, of which the first one leaves the usage after two hours. */
const BOTH = {
  ...{ received: 2, sent: 2, bounced: 1, handedOver: 10 },
  ...{ bytes: [0, 2_050, 1_000, 1_000], messages: [0, 5, 2, 2], inboxes: [2, 2, 1, 1] },
}
const DELETED = {
  ...{ received: 1, sent: 1, bounced: 1, handedOver: 5 },
  ...{ bytes: [0, 1_050, 0, 0], messages: [0, 3, 0, 0], inboxes: [1, 1, 0, 0] },
}
const KEPT = {
  received: 1,
  sent: 1,
  bounced: 0,
  handedOver: 5,
  bytes: [0, 1_000, 1_000, 1_000],
  messages: [0, 2, 2, 2],
}

/** Two inboxes of an organization: the first one is deleted, alone, with its pod, or with the organization. */
interface Case {
  readonly kind: Kind
  readonly organizationId: string
  readonly scope: InboxScope
  readonly kept: InboxScope
}

function caseOf(kind: Kind): Case {
  const organizationId = randomUUID()
  const inbox = () => inboxScope({ organizationId, podId: randomUUID() })
  return { kind, organizationId, scope: inbox(), kept: inbox() }
}

describe.each(['before', 'after'] as const)('a rebuild beside deletions that are purged %s its switch', (order) => {
  const cases = { inbox: caseOf('inbox'), pod: caseOf('pod'), organization: caseOf('organization') }

  beforeAll(async () => {
    const all = Object.values(cases)
    await metrics.count(...all.flatMap(({ scope, kept }) => [...before(scope), ...before(kept)]))
    await lose(...all.flatMap(({ organizationId, kept }) => [organizationId, kept.podId, kept.inboxUid]))
    const finish = await beginRebuild()
    await metrics.count(...all.flatMap(({ scope, kept }) => [...during(scope), ...during(kept)]))
    for (const { scope } of all) expect(await rowsOf([scope.inboxUid])).toBeGreaterThan(0)

    const deletions = all.flatMap(({ kind, scope }) => deletionsOf(kind, scope))
    const purge = order === 'after' ? await postponePurge(deletions.map(({ deletion }) => deletion)) : purged
    await metrics.count(...deletions.map(({ event }) => event))
    if (order === 'before') await purge()
    await metrics.count(...all.flatMap(({ scope }) => late(scope)))
    await finish()
    await purge()
    await purged()
  })

  it('counts what is left above a deleted inbox, and nothing of it', async () => {
    const { scope, kept } = cases.inbox
    expect(await rowsOf([scope.inboxUid])).toBe(0)
    expect(await answers(scope, 'organization')).toEqual(BOTH)
    expect(await answers(kept, 'inbox')).toEqual(KEPT)
    expect(await answers(scope, 'pod')).toEqual(DELETED)
  })

  it('counts what is left above a deleted pod, and nothing of it', async () => {
    const { scope, kept } = cases.pod
    expect(await rowsOf([scope.inboxUid, scope.podId])).toBe(0)
    expect(await answers(scope, 'organization')).toEqual(BOTH)
    expect(await answers(kept, 'inbox')).toEqual(KEPT)
  })

  it('counts nothing of a deleted organization', async () => {
    const { organizationId, scope, kept } = cases.organization
    expect(await rowsOf([scope, kept].flatMap((of) => [organizationId, of.podId, of.inboxUid]))).toBe(0)
  })
})
