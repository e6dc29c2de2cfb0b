import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { Database, type Queryable, sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { countRows, createDatabase, queryRows, type TestDatabase, waitFor } from '@restante/testkit'
import { Leases } from '../../src/pipeline/queue/leases.ts'
import { type LeasedMail, LeaseLostError, queue } from '../../src/pipeline/queue/queue.ts'
import { SlowLaneRotation } from '../../src/pipeline/queue/slow-lane-rotation.ts'

const log = createLogger({ service: 'test', level: 'silent' })

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createDatabase(path.resolve(import.meta.dirname, '../..'))
  db = new Database({ url: database.url, applicationName: 'test' })
})
afterAll(async () => {
  await db.stop()
  await database.drop()
})
beforeEach(() => db.query(sql('delete from inbound')))

const ADD = sql<
  never,
  [recipients: readonly string[], lanes: readonly string[], sizes: readonly number[], attempts: readonly number[]]
>(`
insert into inbound (id, lane, kind, recipient, blob, size, envelope, received_at, due_at, attempts)
select gen_random_uuid(), lane, 'report', recipient, 'x', size, '{"via":"internal","mail_from":""}', now(), now() - interval '1 minute', attempts
  from unnest($1::text[], $2::uuid[], $3::int[], $4::int[]) with ordinality as row(recipient, lane, size, attempts, ordinal)
 order by ordinal`)

/** One mail for an inbox of each organization, whose id is its recipient. */
const ADD_OF = sql<never, [organizations: readonly string[]]>(`
insert into inbound (id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope, received_at, due_at)
select gen_random_uuid(), gen_random_uuid(), 'mail', id, gen_random_uuid(), gen_random_uuid(), 'a@test.example', id::text, 'x', 1,
       '{"via":"internal","mail_from":""}', now(), now() - interval '1 minute'
  from unnest($1::uuid[]) as organization(id)`)

const ADD_ENTRIES = sql<never, [organizations: readonly string[], deletedAt: readonly (string | null)[]]>(`
insert into list_entries (id, organization_id, tier, scope_id, direction, type, entry, version, deleted_at)
select gen_random_uuid(), id, 'organization', id, 'receive', 'block', 'a.example', 1, deleted_at
  from unnest($1::uuid[], $2::timestamptz[]) as entry(id, deleted_at)`)

interface Given {
  readonly lane: string
  readonly name: string
  readonly size?: number
  readonly attempts?: number
}
const add = (given: readonly Given[], within: Queryable = db) =>
  within.query(
    ADD,
    given.map(({ name }) => name),
    given.map(({ lane }) => lane),
    given.map(({ size = 10_000 }) => size),
    given.map(({ attempts = 0 }) => attempts),
  )
const take = (lanes = 10) => queue.take(db, randomUUID(), lanes)
const namesOf = (runs: readonly (readonly LeasedMail[])[]) =>
  runs.map((run) => run.map(({ recipient }) => recipient).join(' '))
const numbered = (lane: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ lane, name: String(index) }))
const finish = (mails: readonly LeasedMail[]) => db.transaction((tx) => queue.finish(tx, mails))

/** Rows of the queue that were read one after the other in this transaction. */
async function rowsScanned(tx: Queryable): Promise<number> {
  const [row] = await tx.query(
    sql<{ rows: number }>(`select seq_tup_read::int as rows from pg_stat_xact_user_tables where relname = 'inbound'`),
  )
  return row?.rows ?? 0
}

interface QueuedRow {
  readonly recipient: string
  readonly attempts: number
  readonly leased_until: Date | null
}
const queued = () => queryRows<QueuedRow>(db, 'select * from inbound order by position')
const endsOfLeases = async () => (await queued()).map(({ leased_until }) => leased_until?.getTime() ?? 0)
const endAllLeases = () => db.query(sql(`update inbound set leased_until = now() - interval '1 second'`))

describe('a mail that is taken', () => {
  it('says whether its organization has entries of lists that are not deleted', async () => {
    const [listed, unlisted, formerly] = [randomUUID(), randomUUID(), randomUUID()]
    await db.query(ADD_ENTRIES, [listed, listed, formerly], [null, '2026-01-01', '2026-01-01'])
    await db.query(ADD_OF, [listed, unlisted, formerly])
    const taken = (await take()).flat()
    expect(new Map(taken.map((mail) => [mail.recipient, mail.listed]))).toEqual(
      new Map([
        [listed, true],
        [unlisted, false],
        [formerly, false],
      ]),
    )
  })
})

describe('a run of mails', () => {
  it('has the oldest mails of each lane in order, and no other worker gets mail of that lane', async () => {
    const [a, b] = [randomUUID(), randomUUID()]
    await add([
      { lane: a, name: 'a1' },
      { lane: b, name: 'b1' },
      { lane: a, name: 'a2' },
      { lane: b, name: 'b2' },
    ])
    const runs = await take()
    expect(namesOf(runs)).toEqual(['a1 a2', 'b1 b2'])
    await add([{ lane: a, name: 'a3' }])
    expect(await take()).toEqual([])
    await finish(runs.flat())
    expect(namesOf(await take())).toEqual(['a3'])
  })

  it('takes as many lanes as there are slots, the longest waiting first', async () => {
    const lanes = [randomUUID(), randomUUID(), randomUUID()]
    await add(lanes.map((lane, index) => ({ lane, name: String(index) })))
    expect(namesOf(await take(2))).toEqual(['0', '1'])
    expect(namesOf(await take(2))).toEqual(['2'])
  })

  it('ends after 16 mails, or before one that is large', async () => {
    const [long, large] = [randomUUID(), randomUUID()]
    await add([...numbered(long, 20), { lane: large, name: 'a', size: 40_000_000 }, { lane: large, name: 'b' }])
    await add([
      { lane: large, name: 'c', size: 300_000 },
      { lane: large, name: 'd' },
    ])
    const runs = await take()
    expect(runs[0]).toHaveLength(16)
    expect(namesOf(runs.slice(1))).toEqual(['a b'])
  })

  it('is a single mail when it was tried before, and ends before such a mail, which may kill the process again', async () => {
    const lane = randomUUID()
    await add([
      { lane, name: 'a' },
      { lane, name: 'b', attempts: 1 },
      { lane, name: 'c' },
    ])
    for (const names of ['a', 'b', 'c']) {
      const runs = await take()
      expect(namesOf(runs)).toEqual([names])
      await finish(runs.flat())
    }
  })

  it('is found without reading the queue, also when the queue was empty a moment ago', async () => {
    await db.query(sql('vacuum analyze inbound'))
    const read = await db.transaction(async (tx) => {
      // Were its plan kept, it would be the one for an empty queue.
      for (let round = 0; round < 10; round++) await queue.take(tx, randomUUID(), 8)
      const lanes = Array.from({ length: 50 }, () => randomUUID())
      await add(
        lanes.flatMap((lane) => numbered(lane, 100)),
        tx,
      )
      const before = await rowsScanned(tx)
      expect(await queue.take(tx, randomUUID(), 8)).toHaveLength(8)
      return (await rowsScanned(tx)) - before
    })
    expect(read).toBeLessThan(3 * 5_000)
  })
})

describe('a slow mail', () => {
  it('is taken for a slow slot only, alone, and keeps its position in its inbox', async () => {
    const [lane, other] = [randomUUID(), randomUUID()]
    await add([
      { lane, name: 'slow' },
      { lane, name: 'next' },
      { lane: other, name: 'other' },
    ])
    const [[mail] = []] = await take(1)
    if (mail === undefined) throw new Error('there is no mail')
    expect(mail).toMatchObject({ recipient: 'slow', slow: false, attempts: 1 })
    await queue.moveToSlowLane(db, mail)
    await db.query(sql('update inbound set lease_id = null, leased_until = null'))
    expect(namesOf(await take())).toEqual(['other'])
    const [[slow] = [], ...more] = await queue.take(db, randomUUID(), 10, 1)
    expect(slow).toMatchObject({ recipient: 'slow', slow: true, attempts: 1 })
    expect(more).toEqual([])
    await finish(slow === undefined ? [] : [slow])
    expect(namesOf(await take())).toEqual(['next'])
  })

  it('is limited by the number of slow slots', async () => {
    await add(['a', 'b', 'c'].map((name) => ({ lane: randomUUID(), name })))
    for (const mail of (await take()).flat()) await queue.moveToSlowLane(db, mail)
    expect(namesOf(await queue.take(db, randomUUID(), 10, 2))).toEqual(['a', 'b'])
  })
})

describe('slow mails of several inboxes', () => {
  const moveAll = async () => {
    for (const mail of (await take()).flat()) await queue.moveToSlowLane(db, mail)
  }
  const takeSlow = async (turns: SlowLaneRotation) => {
    const [[mail] = []] = await queue.take(db, randomUUID(), 0, 1, turns)
    if (mail === undefined) throw new Error('there is no mail')
    turns.taken(mail)
    await finish([mail])
    return mail.recipient
  }

  it('are taken in rotation, so that a backlog in some does not block the lane for others', async () => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()]
    const names = [
      ...['a1', 'a2', 'a3'].map((name) => ({ lane: a, name })),
      ...['b1', 'b2', 'b3'].map((name) => ({ lane: b, name })),
      { lane: c, name: 'c1' },
    ]
    await add(names)
    await moveAll()
    const turns = new SlowLaneRotation()
    const order: string[] = []
    for (const _ of names) order.push(await takeSlow(turns))
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'b3'])
  })

  it('come after those of organizations not served recently', async () => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()]
    await add([
      { lane: a, name: 'one' },
      { lane: b, name: 'two of the same' },
      { lane: c, name: 'other' },
    ])
    const [crowd, other] = [randomUUID(), randomUUID()]
    await db.query(
      sql<never, [lane: string, crowd: string, other: string]>(`
update inbound set kind = 'mail', pod_id = gen_random_uuid(), inbox_uid = lane, inbox_address = 'x@y.test',
       organization_id = case when lane = $1 then $3::uuid else $2::uuid end`),
      c,
      crowd,
      other,
    )
    await moveAll()
    const turns = new SlowLaneRotation()
    const order = [await takeSlow(turns), await takeSlow(turns), await takeSlow(turns)]
    expect(order).toEqual(['one', 'other', 'two of the same'])
  })

  it('are overdue together once the first has held up its inbox for a minute, and then need no slow slot', async () => {
    const lane = randomUUID()
    await add([
      { lane, name: 'first' },
      { lane, name: 'second' },
    ])
    const [[first, second] = []] = await take()
    if (first === undefined || second === undefined) throw new Error('there is no mail')
    await queue.moveToSlowLane(db, first)
    await queue.release(db, [second], false, 0)
    expect(await take()).toEqual([])
    await db.query(sql(`update inbound set slow_since = slow_since - interval '61 seconds'`))
    const [run = []] = await take()
    expect(run).toMatchObject([{ recipient: 'first', slow: false, overdue: true }])
    await finish(run)
    const [[next] = []] = await take()
    if (next === undefined) throw new Error('there is no mail')
    expect(next).toMatchObject({ recipient: 'second', slow: false, overdue: false })
    await queue.moveToSlowLane(db, next)
    expect(await take()).toMatchObject([[{ recipient: 'second', overdue: true }]])
  })
})

describe('the lease of a mail', () => {
  it('is renewed while its holder works, so that others do not get the mail', async () => {
    await add([{ lane: randomUUID(), name: 'slow' }])
    const [run = []] = await take()
    const [before = 0] = await endsOfLeases()
    const leases = new Leases({ db, log, everyMs: 20 })
    await leases.start()
    await leases.during(run, () =>
      waitFor(async () => ((await endsOfLeases())[0] ?? 0) > before, { what: 'a longer lease' }),
    )
    await leases.stop()
    const [until] = await endsOfLeases()
    await leases.renew()
    expect(await endsOfLeases()).toEqual([until])
  })

  it('ends when its holder is dead, and then the mail is taken over as an orphan', async () => {
    await add([{ lane: randomUUID(), name: 'orphan' }])
    const [dead = []] = await take()
    const [until = 0] = await endsOfLeases()
    expect(until - Date.now()).toBeLessThan(15_000)
    await endAllLeases()
    const [heir = []] = await take()
    expect(heir).toMatchObject([{ recipient: 'orphan', attempts: 2, orphaned: true }])
    await expect(finish(dead)).rejects.toBeInstanceOf(LeaseLostError)
    await finish(heir)
    expect(await countRows(db, 'inbound')).toBe(0)
  })

  it('costs the mails of a dead holder one attempt together, and further attempts only those retried alone', async () => {
    const lane = randomUUID()
    await add([...numbered(lane, 3), { lane: randomUUID(), name: 'elsewhere' }])
    const held = await take()
    expect(held.flat().map(({ attempts, orphaned }) => ({ attempts, orphaned }))).toEqual(
      Array(4).fill({ attempts: 1, orphaned: false }),
    )
    const counted = async () => (await queued()).map((row) => row.attempts)
    for (const deaths of [1, 2, 3]) {
      await endAllLeases()
      const orphans = (await take()).flat()
      expect(orphans.map(({ recipient }) => recipient)).toEqual(['0', 'elsewhere'])
      expect(await counted()).toEqual([deaths, 1, 1, 1])
      const [first] = orphans
      if (first) expect(await queue.count(db, first)).toBe(true)
    }
    const stolen = { id: held[0]?.[0]?.id ?? '', leaseId: randomUUID() }
    expect(await queue.count(db, stolen)).toBe(false)
    expect(await counted()).toEqual([4, 1, 1, 1])
  })

  it('is not renewed once another worker has the mail, but is after an outage when none has', async () => {
    await add([
      { lane: randomUUID(), name: 'lost' },
      { lane: randomUUID(), name: 'kept' },
    ])
    const mine = await take()
    await endAllLeases()
    const [[theirs] = []] = await take(1)
    const ends = async () => new Map((await queued()).map((row) => [row.recipient, row]))
    const before = await ends()
    await queue.renew(db, mine.flat())
    const after = await ends()
    expect(theirs?.recipient).toBe('lost')
    expect(after.get('lost')).toEqual(before.get('lost'))
    expect(after.get('kept')?.leased_until?.getTime()).toBeGreaterThan(Date.now())
    await expect(finish(mine.flat())).rejects.toBeInstanceOf(LeaseLostError)
    expect(await countRows(db, 'inbound')).toBe(2)
  })
})
