import { randomUUID } from 'node:crypto'
import { deliverOnce, deliverShuffled, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { createLogger } from '@restante/service/telemetry'
import { holdScopes } from '@restante/tenancy'
import { countRows, inboxDeletedEvent, organizationDeletedEvent, podDeletedEvent, queryRows } from '@restante/testkit'
import { listsConsumer } from '../../src/lists/consumers.ts'
import { RetentionSweeper } from '../../src/retention/sweeper.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { holding, whenWaiting } from '../locks.ts'
import { purgeScope, tenancyOf } from '../mailbox-fixture.ts'
import { changed, deleted, type EntryScope, ListOwner, scopeOf, type TestEntry } from './entries.ts'

const TIERS = ['inbox', 'pod', 'organization'] as const
type Tier = (typeof TIERS)[number]

let fixture: Fixture
/** Part of another process of the service; it is not started, and gets events directly. */
let consumer: ReturnType<typeof listsConsumer>

beforeAll(async () => {
  fixture = await openFixture()
  consumer = listsConsumer({ kafka: fixture.topics.kafka, db: fixture.db })
})
afterAll(() => fixture.stop())

/** An inbox that no test shares, in a pod that is not the default one. */
function newScope() {
  return { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
}

function newEntry(scope: EntryScope = newScope(), more: Partial<TestEntry> = {}): TestEntry {
  const entry_id = randomUUID()
  return { ...scope, entry_id, direction: 'receive', type: 'block', entry: 'ada@x.test', ...more }
}

/** The entries of an organization that mail is judged by. */
const live = async ({ organization_id }: EntryScope) =>
  queryRows<{ id: string; tier: string; scope_id: string; direction: string; type: string; entry: string }>(
    fixture.db,
    `select id, tier, scope_id, direction, type, entry from list_entries
      where organization_id = $1 and deleted_at is null order by id`,
    organization_id,
  )
const rows = ({ organization_id }: EntryScope) =>
  countRows(fixture.db, 'list_entries where organization_id = $1', organization_id)

/** The id of one scope of an inbox. */
function idOf({ organization_id, pod_id, inbox_uid }: Required<EntryScope>, tier: Tier): string {
  return { inbox: inbox_uid, pod: pod_id, organization: organization_id }[tier]
}

/** The event of the deletion of one scope of an inbox. */
function deletionOf({ organization_id, pod_id, inbox_uid }: Required<EntryScope>, tier: Tier) {
  if (tier === 'organization') return organizationDeletedEvent(organization_id)
  if (tier === 'pod') return podDeletedEvent(organization_id, pod_id)
  return inboxDeletedEvent({
    organizationId: organization_id,
    podId: pod_id,
    inboxUid: inbox_uid,
    address: `${inbox_uid}@mail.test`,
  })
}

describe('the projection of lists', () => {
  it('keeps entries of inboxes, pods and organizations as they are published', async () => {
    const owner = new ListOwner(fixture)
    try {
      const scope = newScope()
      const entries: TestEntry[] = []
      for (const tier of TIERS) entries.push(await owner.add(scopeOf(scope, tier), 'reply', 'allow x.test'))
      const ids = { inbox: scope.inbox_uid, pod: scope.pod_id, organization: scope.organization_id }
      expect((await live(scope)).toSorted((a, b) => a.tier.localeCompare(b.tier))).toEqual(
        TIERS.map((tier, index) => ({
          ...{ id: entries[index]?.entry_id, tier, scope_id: ids[tier] },
          ...{ direction: 'reply', type: 'allow', entry: 'x.test' },
        })).toSorted((a, b) => a.tier.localeCompare(b.tier)),
      )
      await owner.clear()
      expect(await live(scope)).toEqual([])
    } finally {
      await owner.stop()
    }
  })

  it.each([1, 2, 3, 4, 5, 6])(
    'ends the same in any order and repetition: an entry is created, changed, deleted and created again (seed %i)',
    async (seed) => {
      const [scope, other] = [newScope(), newScope()]
      const [first, again, stays] = [newEntry(scope), newEntry(scope), newEntry(other)]
      await deliverShuffled(
        consumer,
        seed,
        ...[changed(first, 1), changed(first, 2, 'a reason'), deleted(first, 3)],
        ...[changed(again, 1), changed(stays, 1), changed(stays, 2, 'a reason')],
      )
      expect((await live(scope)).map(({ id }) => id)).toEqual([again.entry_id])
      expect((await live(other)).map(({ id }) => id)).toEqual([stays.entry_id])
    },
  )

  it('does not restore a deleted entry by an older event', async () => {
    const entry = newEntry()
    await deliverTwiceAndSwapped(consumer, changed(entry, 1), deleted(entry, 2))
    await deliverOnce(consumer, changed(entry, 1))
    expect(await live(entry)).toEqual([])
  })

  it('has no entries of send lists, which judge no received mail', async () => {
    const entry = newEntry(newScope(), { direction: 'send' })
    await deliverTwiceAndSwapped(consumer, changed(entry), deleted(entry))
    expect(await rows(entry)).toBe(0)
  })

  it('forgets a deleted entry once no event about it can arrive', async () => {
    const [old, young, alive] = [newEntry(), newEntry(), newEntry()]
    for (const entry of [old, young, alive]) await deliverOnce(consumer, changed(entry))
    for (const entry of [old, young]) await deliverOnce(consumer, deleted(entry))
    const age = (entry: TestEntry, days: number) =>
      queryRows(
        fixture.db,
        "update list_entries set deleted_at = now() - $2::int * interval '1 day' where id = $1",
        entry.entry_id,
        days,
      )
    await age(old, 22)
    await age(young, 20)
    await new RetentionSweeper({ db: fixture.db, log: createLogger({ service: 'test', level: 'silent' }) }).forget()
    expect([await rows(old), await rows(young), await rows(alive)]).toEqual([0, 1, 1])
  })
})

describe('the deletion', () => {
  it.each(TIERS)('of the %s deletes its entries, deleted ones too, and no others', async (tier) => {
    const tenancy = await tenancyOf(fixture)
    const scope = newScope()
    const neighbour = { ...scope, pod_id: randomUUID(), inbox_uid: randomUUID() }
    for (const of of [...TIERS.map((each) => scopeOf(scope, each)), neighbour]) {
      await deliverOnce(consumer, changed(newEntry(of)))
      const gone = newEntry(of)
      await deliverTwiceAndSwapped(consumer, changed(gone), deleted(gone))
    }
    await deliverOnce(tenancy.consumer, deletionOf(scope, tier))
    await purgeScope(fixture, tenancy, idOf(scope, tier))
    // The deletion of a pod comes after those of its inboxes, which delete their own entries.
    const left = { inbox: ['inbox', 'organization', 'pod'], pod: ['inbox', 'inbox', 'organization'], organization: [] }
    expect((await live(scope)).map((entry) => entry.tier).toSorted()).toEqual(left[tier])
    expect(await rows(scope)).toBe(2 * left[tier].length)
  })

  it.each(TIERS)('of the %s drops entries that are published after it', async (tier) => {
    const tenancy = await tenancyOf(fixture)
    const scope = newScope()
    await deliverOnce(tenancy.consumer, deletionOf(scope, tier))
    await purgeScope(fixture, tenancy, idOf(scope, tier))
    const late = newEntry(scope)
    await deliverTwiceAndSwapped(consumer, changed(late), deleted(late))
    expect(await rows(scope)).toBe(0)
  })

  it.each(TIERS)('of the %s waits for an entry that is being written', async (tier) => {
    const tenancy = await tenancyOf(fixture)
    const { organization_id, pod_id, inbox_uid } = newScope()
    const { deletion } = await holding(fixture.db, async (tx) => {
      await holdScopes(tx, [organization_id, pod_id, inbox_uid])
      const deletion = deliverOnce(tenancy.consumer, deletionOf({ organization_id, pod_id, inbox_uid }, tier))
      await whenWaiting(fixture.db, tx, { what: 'the deletion to wait' })
      return { deletion }
    })
    await deletion
    expect(await countRows(fixture.db, 'deleted_scopes where organization_id = $1', organization_id)).toBe(1)
  })

  it('of an organization deletes thousands of entries, in batches', async () => {
    const tenancy = await tenancyOf(fixture)
    const scope = newScope()
    await queryRows(
      fixture.db,
      `insert into list_entries (id, organization_id, tier, scope_id, direction, type, entry, version)
       select gen_random_uuid(), $1::uuid, 'organization', $1::uuid, 'receive', 'block', 'x' || number || '.test', 1
         from generate_series(1, 2500) as number`,
      scope.organization_id,
    )
    await deliverOnce(tenancy.consumer, deletionOf(scope, 'organization'))
    await purgeScope(fixture, tenancy, scope.organization_id)
    expect(await rows(scope)).toBe(0)
  })
})
