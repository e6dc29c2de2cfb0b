import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { deliverOnce, deliverShuffled, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { sql, type Tx } from '@restante/service/database'
import {
  type BatchOutcome,
  type DeletedScope,
  deletedAmong,
  findTombstone,
  holdInbox,
  holdScopes,
  type PurgeAtOnce,
  type PurgeInBatches,
  Tombstones,
} from '../src/index.ts'
import { TombstoneSweeper } from '../src/tombstone-sweeper.ts'
import { deletedInbox, inboxDeleted, organizationDeleted, podDeleted, Stack, until } from './stack.ts'

const ADD = sql<never, [scope: string, things: number]>(
  'insert into things (scope) select $1::uuid from generate_series(1, $2::int)',
)
const REMOVE = sql<{ one: number }, [scope: string, rows: number]>(`
delete from things where ctid in (select ctid from things where scope = $1 limit $2) returning 1 as one`)
const COUNT = sql<{ things: number }, [scope: string]>('select count(*)::int as things from things where scope = $1')
const ROW = sql<{ kind: string; due: boolean; due_at: Date; purged: boolean; ended: boolean }, [id: string]>(`
select kind, due_at <= now() as due, due_at, purged_at is not null as purged, ended_at is not null as ended
  from deleted_scopes where id = $1`)
const CLOCK = sql<{ at: Date }>('select clock_timestamp() as at')
const MAKE_DUE = sql<never>("update deleted_scopes set due_at = now() - interval '1 second' where ended_at is null")
const AGE = sql<never, [id: string, days: number]>(
  "update deleted_scopes set deleted_at = now() - $2::int * interval '1 day' where id = $1",
)
const BLOCKED = sql<{ count: number }>(`
select count(*)::int as count from pg_stat_activity
 where datname = current_database() and wait_event_type = 'Lock'`)

const stack = new Stack()
beforeAll(() => stack.start())
afterAll(() => stack.stop())

const thingsOf = async (scope: string) => (await stack.db.query(COUNT, scope))[0]?.things
const rowOf = async (id: string) => (await stack.db.query(ROW, id))[0]

/** Purges once. @returns for how many milliseconds from the start of that, at least, a scope is not due again. */
async function purgeOnce(tenancy: ReturnType<Stack['tenancy']>, id: string): Promise<number> {
  const [begun] = await stack.db.query(CLOCK)
  await tenancy.purge()
  return Number((await rowOf(id))?.due_at) - Number(begun?.at)
}

const BATCH = 3
/** A service whose data are rows of `things`. `rest` is the outcome of a batch that leaves no rows of its scope. */
function purging(rest: (id: string) => BatchOutcome = () => 'ended'): PurgeInBatches {
  const batch = async (tx: Tx, id: string): Promise<BatchOutcome> =>
    (await tx.query(REMOVE, id, BATCH)).length === BATCH ? 'more' : rest(id)
  return { inbox: batch, organization: batch }
}

describe('a service that purges in batches', () => {
  it.each([1, 2, 3])(
    'purges inboxes and their organization, in any order and repetition of their events (seed %i)',
    async (seed) => {
      const organizationId = randomUUID()
      const inboxes = [deletedInbox(organizationId), deletedInbox(organizationId)]
      const [other] = [deletedInbox()]
      for (const id of [...inboxes.map(({ inbox_uid }) => inbox_uid), organizationId, other.inbox_uid]) {
        await stack.db.query(ADD, id, 10)
      }
      const tenancy = stack.tenancy({ purge: purging() })
      await deliverShuffled(tenancy.consumer, seed, ...inboxes.map(inboxDeleted), organizationDeleted(organizationId))
      await tenancy.purge()
      for (const id of [...inboxes.map(({ inbox_uid }) => inbox_uid), organizationId]) {
        expect([await thingsOf(id), await rowOf(id)]).toMatchObject([0, { purged: true, ended: true }])
      }
      expect([await thingsOf(other.inbox_uid), await rowOf(other.inbox_uid)]).toEqual([10, undefined])
    },
  )

  it.each([1, 2, 3])('purges pods, if it has data of pods, in any order of events (seed %i)', async (seed) => {
    const [organizationId, podId, otherId] = [randomUUID(), randomUUID(), randomUUID()]
    for (const id of [organizationId, podId, otherId]) await stack.db.query(ADD, id, 10)
    const batches = purging()
    const tenancy = stack.tenancy({ purge: { ...batches, pod: batches.inbox } })
    await deliverShuffled(
      tenancy.consumer,
      seed,
      podDeleted(organizationId, podId),
      organizationDeleted(organizationId),
    )
    await tenancy.purge()
    for (const id of [podId, organizationId]) {
      expect([await thingsOf(id), await rowOf(id)]).toMatchObject([0, { purged: true, ended: true }])
    }
    expect([await thingsOf(otherId), await rowOf(otherId)]).toEqual([10, undefined])
  })

  it('purges a default pod and its organization separately, although both have the same id', async () => {
    const id = randomUUID()
    const calls: string[] = []
    const count = (kind: string) => async () => {
      calls.push(kind)
      return 'ended' as const
    }
    const tenancy = stack.tenancy({
      purge: { inbox: count('inbox'), pod: count('pod'), organization: count('organization') },
    })
    await deliverTwiceAndSwapped(tenancy.consumer, podDeleted(id, id), organizationDeleted(id))
    await tenancy.purge()
    expect(calls).toEqual(['pod', 'organization'])
  })

  it('answers whether an inbox is purged, and applies a deletion that is new to it', async () => {
    const inbox = deletedInbox()
    await stack.db.query(ADD, inbox.inbox_uid, 5)
    const tenancy = stack.tenancy({ purge: purging() })
    expect(await tenancy.purgeInbox({ body: inbox })).toEqual({ purged: false })
    expect(await tenancy.purgeInbox({ body: inbox })).toEqual({ purged: false })
    await tenancy.purge()
    expect(await tenancy.purgeInbox({ body: inbox })).toEqual({ purged: true })
    expect(await thingsOf(inbox.inbox_uid)).toBe(0)
    await deliverTwiceAndSwapped(tenancy.consumer, inboxDeleted(inbox))
    expect(await rowOf(inbox.inbox_uid)).toMatchObject({ ended: true })
  })

  it('purges again after a second while data is left that disappears by itself, and does not count it as purged', async () => {
    const inbox = deletedInbox()
    const left: { outcome: BatchOutcome } = { outcome: 'pending' }
    const tenancy = stack.tenancy({ purge: purging(() => left.outcome) })
    await deliverOnce(tenancy.consumer, inboxDeleted(inbox))
    expect(await purgeOnce(tenancy, inbox.inbox_uid)).toBeGreaterThan(900)
    expect(await rowOf(inbox.inbox_uid)).toMatchObject({ purged: false, ended: false })
    left.outcome = 'ended'
    await until(async () => (await rowOf(inbox.inbox_uid))?.due)
    await tenancy.purge()
    expect(await rowOf(inbox.inbox_uid)).toMatchObject({ purged: true, ended: true })
  })

  it('reports an inbox as purged when only accepted work is left, and keeps purging until that has ended', async () => {
    const inbox = deletedInbox()
    const left: { outcome: BatchOutcome } = { outcome: 'purged' }
    const tenancy = stack.tenancy({ purge: purging(() => left.outcome) })
    await deliverOnce(tenancy.consumer, inboxDeleted(inbox))
    expect(await purgeOnce(tenancy, inbox.inbox_uid)).toBeGreaterThan(900)
    expect(await tenancy.purgeInbox({ body: inbox })).toEqual({ purged: true })
    expect(await rowOf(inbox.inbox_uid)).toMatchObject({ ended: false })
    await stack.db.query(ADD, inbox.inbox_uid, BATCH)
    left.outcome = 'ended'
    await stack.db.query(MAKE_DUE)
    await tenancy.purge()
    expect(await thingsOf(inbox.inbox_uid)).toBe(0)
    expect(await rowOf(inbox.inbox_uid)).toMatchObject({ purged: true, ended: true })
  })

  it('ignores deletions of pods, and passes other events of the topic to the handlers of the service', async () => {
    const [organizationId, podId] = [randomUUID(), randomUUID()]
    const tenancy = stack.tenancy({
      purge: purging(),
      handlers: {
        'organization.taken_over': {
          effect: async (tx, { payload }) => {
            await tx.query(ADD, payload.organization_id, 1)
          },
        },
      },
    })
    await deliverOnce(tenancy.consumer, podDeleted(organizationId, podId))
    const takeOver = { credential_id: randomUUID(), take_overs: 1, verified: true, at: new Date().toISOString() }
    const event = topics.tenancy.event(
      'organization.taken_over',
      { organization_id: organizationId, version: 2, ...takeOver },
      { time: new Date() },
    )
    await deliverTwiceAndSwapped(tenancy.consumer, event)
    expect([await rowOf(podId), await thingsOf(organizationId)]).toEqual([undefined, 1])
  })

  it('purges an inbox as soon as its deletion is consumed from the topic', async () => {
    const inbox = deletedInbox()
    await stack.db.query(ADD, inbox.inbox_uid, 10)
    const tenancy = stack.tenancy({ purge: purging() })
    await tenancy.start()
    try {
      await until(() =>
        tenancy.working().then(
          () => true,
          () => false,
        ),
      )
      await stack.publish(inboxDeleted(inbox))
      await until(async () => (await rowOf(inbox.inbox_uid))?.ended)
      expect(await thingsOf(inbox.inbox_uid)).toBe(0)
    } finally {
      await tenancy.stop()
    }
  })
})

describe('a service that purges at once', () => {
  /** A purge that records its calls. */
  function immediately(refused?: string) {
    const calls: DeletedScope[] = []
    const purge: PurgeAtOnce = {
      atOnce: async (tx, scope) => {
        calls.push(scope)
        if (scope.id === refused) throw new Error('purge failed')
        await tx.query(REMOVE, scope.id, 1_000)
      },
    }
    return { calls, purge }
  }

  it('deletes the data of an inbox, a pod and an organization once each, when it stores the tombstone', async () => {
    const inbox = deletedInbox()
    const { organization_id, pod_id, inbox_uid } = inbox
    for (const id of [inbox_uid, pod_id, organization_id]) await stack.db.query(ADD, id, 10)
    const { calls, purge } = immediately()
    const { consumer } = stack.tenancy({ purge })
    const events = [inboxDeleted(inbox), podDeleted(organization_id, pod_id), organizationDeleted(organization_id)]
    await deliverTwiceAndSwapped(consumer, ...events)
    for (const id of [inbox_uid, pod_id, organization_id]) {
      expect([await thingsOf(id), await rowOf(id)]).toMatchObject([0, { purged: true, ended: true }])
    }
    expect(calls.map(({ kind, id, organization_id: of }) => [kind, id, of])).toEqual([
      ['organization', organization_id, organization_id],
      ['pod', pod_id, organization_id],
      ['inbox', inbox_uid, organization_id],
    ])
  })

  it('purges a default pod and its organization, although both have the same id', async () => {
    const id = randomUUID()
    const { calls, purge } = immediately()
    const { consumer } = stack.tenancy({ purge })
    await deliverTwiceAndSwapped(consumer, organizationDeleted(id), podDeleted(id, id))
    expect(calls.map(({ kind }) => kind)).toEqual(['pod', 'organization'])
  })

  it('purges an inbox when the question whether it is purged reports a new deletion', async () => {
    const inbox = deletedInbox()
    await stack.db.query(ADD, inbox.inbox_uid, 10)
    const { calls, purge } = immediately()
    const tenancy = stack.tenancy({ purge })
    expect(await tenancy.purgeInbox({ body: inbox })).toEqual({ purged: true })
    expect(await tenancy.purgeInbox({ body: inbox })).toEqual({ purged: true })
    expect([calls.length, await thingsOf(inbox.inbox_uid)]).toEqual([1, 0])
  })

  it('stores no tombstone when the purge fails', async () => {
    const inbox = deletedInbox()
    const { purge } = immediately(inbox.inbox_uid)
    await expect(stack.tenancy({ purge }).purgeInbox({ body: inbox })).rejects.toThrow('purge failed')
    expect(await rowOf(inbox.inbox_uid)).toBeUndefined()
  })
})

describe('a tombstone', () => {
  it('is stored after a write that holds its scope has ended, and is found by every later write', async () => {
    const inbox = deletedInbox()
    const tenancy = stack.tenancy({ purge: purging() })
    const marked = await stack.db.transaction(async (tx) => {
      expect(await holdInbox(tx, inbox.inbox_uid)).toBe(true)
      const marking = tenancy.purgeInbox({ body: inbox })
      await until(async () => (await stack.db.query(BLOCKED))[0]?.count)
      expect(await rowOf(inbox.inbox_uid)).toBeUndefined()
      await tx.query(ADD, inbox.inbox_uid, 1)
      return { marking }
    })
    await marked.marking
    await tenancy.purge()
    expect(await thingsOf(inbox.inbox_uid)).toBe(0)
    expect(await stack.db.transaction((tx) => holdInbox(tx, inbox.inbox_uid))).toBe(false)
  })

  it.each(['inbox', 'pod', 'organization'] as const)(
    'of the %s is awaited and found by writes that hold several scopes',
    async (kind) => {
      const inbox = deletedInbox()
      const { organization_id, pod_id, inbox_uid } = inbox
      const scopes = [inbox_uid, pod_id, organization_id]
      const tenancy = stack.tenancy({ purge: { ...purging(), pod: async () => 'ended' } })
      const deletion = {
        inbox: inboxDeleted(inbox),
        pod: podDeleted(organization_id, pod_id),
        organization: organizationDeleted(organization_id),
      }[kind]
      const marked = await stack.db.transaction(async (tx) => {
        expect(await holdScopes(tx, scopes)).toBe(true)
        const marking = deliverOnce(tenancy.consumer, deletion)
        await until(async () => (await stack.db.query(BLOCKED))[0]?.count)
        return { marking }
      })
      await marked.marking
      expect(await stack.db.transaction((tx) => holdScopes(tx, scopes))).toBe(false)
      expect(await stack.db.transaction((tx) => holdScopes(tx, [randomUUID(), randomUUID()]))).toBe(true)
    },
  )

  it('keeps pod and address of an inbox only with keepsAddresses', async () => {
    const [plain, named] = [deletedInbox(), deletedInbox()]
    await deliverOnce(stack.tenancy({ purge: purging() }).consumer, inboxDeleted(plain))
    const tombstones = new Tombstones({ keepsAddresses: true })
    await deliverOnce(stack.tenancy({ purge: purging(), tombstones }).consumer, inboxDeleted(named))
    expect(await findTombstone(stack.db, plain.inbox_uid)).toMatchObject({ pod_id: null, address: null })
    const { organization_id, pod_id, address } = named
    expect(await findTombstone(stack.db, named.inbox_uid)).toEqual({ organization_id, pod_id, address, purged: false })
  })

  it.each([1, 2, 3])('loses its address when its organization is deleted, in any order (seed %i)', async (seed) => {
    const organizationId = randomUUID()
    const [one, two, other] = [deletedInbox(organizationId), deletedInbox(organizationId), deletedInbox()]
    const tenancy = stack.tenancy({ purge: purging(), tombstones: new Tombstones({ keepsAddresses: true }) })
    const events = [inboxDeleted(one), organizationDeleted(organizationId), inboxDeleted(two), inboxDeleted(other)]
    await deliverShuffled(tenancy.consumer, seed, ...events)
    await tenancy.purge()
    for (const { inbox_uid } of [one, two]) {
      expect(await findTombstone(stack.db, inbox_uid)).toMatchObject({ address: null })
    }
    expect(await findTombstone(stack.db, other.inbox_uid)).toMatchObject({ address: other.address })
  })

  it('is deleted after 111 days, but not before its purge has ended', async () => {
    const [old, unfinished, young] = [deletedInbox(), deletedInbox(), deletedInbox()]
    const left = (id: string): BatchOutcome => (id === unfinished.inbox_uid ? 'purged' : 'ended')
    const tenancy = stack.tenancy({ purge: purging(left) })
    for (const inbox of [old, unfinished, young]) await deliverOnce(tenancy.consumer, inboxDeleted(inbox))
    await tenancy.purge()
    for (const { inbox_uid } of [old, unfinished]) await stack.db.query(AGE, inbox_uid, 112)
    await stack.db.query(AGE, young.inbox_uid, 110)
    const ids = [old, unfinished, young].map(({ inbox_uid }) => inbox_uid)
    await new TombstoneSweeper({ db: stack.db, log: stack.log }).sweep()
    expect(await deletedAmong(stack.db, ids)).toEqual(new Set([unfinished.inbox_uid, young.inbox_uid]))
  })
})
