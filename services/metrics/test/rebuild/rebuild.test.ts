import { byLength, countRows, queryRows, waitFor } from '@restante/testkit'
import { totalsBefore } from '../../src/series/read.ts'
import { DAY_MS, type Scope } from '../../src/series/series.ts'
import { MetricsStack, type Replica } from '../owners/stack.ts'
import { misplacedRuns } from '../support/runs.ts'
import { type Happened, History } from './history.ts'

const EVENTS = byLength({ short: 1_500, long: 3_000 })
/** Part of the events is older than the first day that is rebuilt. */
const DAYS = 3

let stack: MetricsStack
let history: History
/** The replica that is left when the other one is killed. */
let replica: Replica

beforeAll(async () => {
  stack = await MetricsStack.create()
  history = new History(3, 2, 3)
})
afterAll(() => stack.stop())

/** Some events twice, and neighbours swapped. */
function disturbed(happened: readonly Happened[]): Happened[] {
  const twice = happened.flatMap((one) => (Math.random() < 0.1 ? [one, one] : [one]))
  return twice.map((one, index) => twice[index ^ 1] ?? one)
}

async function counted(happened: readonly Happened[]): Promise<void> {
  const ids = happened.map(({ event }) => event.id)
  const isCounted = async () =>
    (await countRows(stack.db, "consumed where consumer = 'metrics.facts' and event_id = any($1)", ids)) === ids.length
  await waitFor(isCounted, { what: 'the events to be counted', timeout: 60_000, interval: 200 })
}

async function purged(): Promise<void> {
  const isPurged = async () => {
    const deletions = await countRows(stack.db, 'deleted_scopes where ended_at is not null')
    return deletions === history.deleted.size
  }
  await waitFor(isPurged, { what: 'deleted inboxes to be purged', timeout: 60_000, interval: 200 })
}

function switched(replica: Replica): Promise<unknown> {
  const hasSwitched = async () => {
    const { rebuild } = await replica.call('metrics.getRebuild', {})
    if (rebuild?.state !== 'reading' && rebuild?.state !== 'switched') throw new Error(JSON.stringify(rebuild))
    return rebuild.state === 'switched' && rebuild
  }
  return waitFor(hasSwitched, { what: 'the rebuild to switch over', timeout: 120_000, interval: 100 })
}

async function stored(scope: Scope) {
  const totals = await totalsBefore(stack.db, scope, ['storage_bytes', 'message_count'], Date.now() + 2 * DAY_MS)
  return { bytes: totals.get('storage_bytes') ?? 0, messages: totals.get('message_count') ?? 0 }
}

async function expectTotals(): Promise<void> {
  for (const { inboxUid } of history.inboxes) {
    const found = await stored({ tier: 'inbox', id: inboxUid })
    expect({ inboxUid, ...found }).toEqual({ inboxUid, ...history.stored((inbox) => inbox.inboxUid === inboxUid) })
  }
  for (const podId of new Set(history.inboxes.map((inbox) => inbox.podId)))
    expect({ podId, ...(await stored({ tier: 'pod', id: podId })) }).toEqual({
      podId,
      ...history.stored((inbox) => inbox.podId === podId),
    })
  for (const id of new Set(history.inboxes.map((inbox) => inbox.organizationId)))
    expect({ id, ...(await stored({ tier: 'organization', id })) }).toEqual({
      id,
      ...history.stored((inbox) => inbox.organizationId === id),
    })
}

describe('a rebuild', () => {
  it('equals a count by hand, with live events, deletions and killed replicas beside it', async () => {
    const [first, second] = await Promise.all([stack.replica(), stack.replica()])
    replica = second
    const before = history.make(EVENTS, DAYS)
    const [early, beside, late, damaged] = history.inboxes
    if (!early || !beside || !late || !damaged) throw new Error('too few inboxes')
    await stack.publish(disturbed(before))
    await counted(before)
    await expectTotals()
    await stack.publish([history.delete(early)])
    await purged()
    // What the topics hold of today is lost here: only a rebuild finds it again.
    const today = Math.floor(Date.now() / DAY_MS)
    for (const table of ['arrivals', 'runs', 'totals'])
      for (const id of [damaged.inboxUid, damaged.podId, damaged.organizationId])
        await queryRows(stack.db, `delete from ${table} where scope_id = $1 and day >= $2`, id, today)

    const { started } = await first.call('metrics.startRebuild', { operator: 'ada' })
    expect(started).toBe(true)
    const during = history.make(EVENTS / 3, DAYS)
    const size = during.length / 10
    const pieces = Array.from({ length: 10 }, (_, index) => during.slice(index * size, index * size + size))
    const publishing = (async () => {
      for (const piece of pieces) await stack.publish(disturbed(piece))
    })()
    const hasBegun = () => countRows(stack.db, 'rebuild_partitions where next > first')
    await waitFor(async () => (await hasBegun()) > 0, { what: 'the reading to begin' })
    await first.end('SIGKILL')
    await stack.publish([history.delete(beside)])
    await publishing
    await switched(replica)
    await stack.publish([history.delete(late)])
    await counted([...before, ...during])
    await purged()
    await expectTotals()
    // The first rebuild kept what deletions withdrew: so does another one.
    expect((await replica.call('metrics.startRebuild', { operator: 'ada' })).started).toBe(true)
    await switched(replica)
    await expectTotals()
    expect(await misplacedRuns(stack.db)).toEqual([])
    const isForgotten = async () =>
      (await countRows(stack.db, "consumed where consumer like 'metrics.rebuild-%'")) === 0
    await waitFor(isForgotten, { what: 'the marks of the rebuilds to be deleted' })
    expect(await countRows(stack.db, 'rebuilt')).toBe(0)
  }, 240_000)

  it('fails and says why when events are gone before it has read them, and is abandoned by the next one', async () => {
    const { topics, db } = stack
    const topic = topics.kafka.physical('mail.messages')
    await topics.kafka.administrate(async (admin) => {
      const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({
        partition,
        offset: high,
      }))
      await admin.deleteTopicRecords({ topic, partitions })
    })
    const today = Math.floor(Date.now() / DAY_MS)
    await queryRows(db, "insert into rebuilds (operator, cut_day) values ('ada', $1)", today - 10)
    const state = async () => (await replica.call('metrics.getRebuild', {})).rebuild
    const failed = await waitFor(async () => ((await state())?.state === 'failed' ? state() : undefined), {
      what: 'the rebuild to fail',
    })
    expect(failed?.reason).toMatch(/deleted by retention/)
    const { rebuild } = await replica.call('metrics.startRebuild', { operator: 'ada' })
    expect(Date.parse(rebuild.from)).toBeGreaterThan(today * DAY_MS - 8 * DAY_MS)
    expect(await queryRows(db, "select id from rebuilds where state = 'abandoned'")).toHaveLength(1)
    await switched(replica)
  })
})
