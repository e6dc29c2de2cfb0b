import { randomUUID } from 'node:crypto'
import { Database, type Queryable, sql } from '@restante/service/database'
import { purgeStatements, RoundRobinPurger } from '../src/index.ts'

const ADMIN_URL = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'
const name = `test_purges_${randomUUID().slice(0, 8)}`

const TABLES = [
  'create table things (id uuid primary key, owner uuid not null, batches int not null, due_at timestamptz not null, purged_at timestamptz)',
  'create index on things (owner, due_at) where purged_at is null',
  'create table turns (number bigserial, owner uuid not null, id uuid not null)',
]
const ADD = sql<never, [owner: string, things: number, batches: number, ageMs: number]>(`
insert into things (id, owner, batches, due_at)
select gen_random_uuid(), $1, $3, now() - $4 * interval '1 millisecond' from generate_series(1, $2::int)`)
const RECORD_TURN = sql<{ owner: string }, [id: string]>(
  'insert into turns (owner, id) select owner, id from things where id = $1 returning owner',
)
const FINISH_BATCH = sql<never, [id: string]>(`
update things
   set batches = batches - 1, due_at = clock_timestamp(), purged_at = case when batches = 1 then now() end
 where id = $1`)
const TURNS = sql<{ owner: string; id: string }>('select owner, id from turns order by number')
const LEFT = sql<{ owner: string; later: boolean }>(
  "select owner, due_at > now() + interval '30 seconds' as later from things where purged_at is null",
)
const statements = purgeStatements({ table: 'things', id: 'id', owner: 'owner', open: 'purged_at is null' })
const CLEAR = sql<never>('truncate things, turns')

function open(url: string): Database {
  return new Database({ url, applicationName: 'test' })
}

describe('RoundRobinPurger', () => {
  const admin = open(ADMIN_URL)
  const db = open(ADMIN_URL.replace(/\/[^/]*$/, `/${name}`))

  beforeAll(async () => {
    await admin.query(sql(`create database ${name}`))
    for (const statement of TABLES) await db.query(sql(statement))
  })
  afterEach(() => db.query(CLEAR))
  afterAll(async () => {
    await db.stop()
    await admin.query(sql(`drop database ${name} with (force)`))
    await admin.stop()
  })

  /** @param refused owner whose batches fail. */
  function createPurger(refused?: string) {
    const work = async (tx: Queryable, id: string): Promise<void> => {
      const [turn] = await tx.query(RECORD_TURN, id)
      if (turn?.owner === refused) throw new Error('batch failed')
      await tx.query(FINISH_BATCH, id)
    }
    return new RoundRobinPurger({ db, statements, work })
  }

  const ownersOfTurns = async () => (await db.query(TURNS)).map(({ owner }) => owner)

  it.each([
    ['after', 'ffffffff-0000-4000-8000-000000000000'],
    ['before', '00000000-0000-4000-8000-000000000001'],
  ])(
    'alternates between two owners although one has more entries, due for longer (its id sorts %s the other)',
    async (_, large) => {
      const small = randomUUID()
      await db.query(ADD, large, 50, 2, 3_600_000)
      await db.query(ADD, small, 1, 5, 0)
      const purger = createPurger()
      while (await purger.round());
      const owners = await ownersOfTurns()
      expect(owners).toHaveLength(105)
      expect(owners.slice(0, 10).filter((owner) => owner === small)).toHaveLength(5)
      expect(await db.query(LEFT)).toEqual([])
    },
  )

  it("serves other owners while one owner's batches fail, and defers each failed entry by a minute", async () => {
    const stuck = '00000000-0000-4000-8000-000000000001'
    const others: string[] = [randomUUID(), randomUUID()]
    await db.query(ADD, stuck, 20, 1, 3_600_000)
    for (const owner of others) await db.query(ADD, owner, 3, 1, 0)
    const purger = createPurger(stuck)
    for (let failures = 0; failures < 5; failures++) {
      await expect(async () => {
        while (await purger.round());
      }).rejects.toThrow('batch failed')
    }
    expect((await ownersOfTurns()).filter((owner) => others.includes(owner))).toHaveLength(6)
    const left = await db.query(LEFT)
    expect(left.map(({ owner }) => owner)).toEqual(Array(20).fill(stuck))
    expect(left.filter(({ later }) => later)).toHaveLength(5)
  })

  it('purges each entry once when several processes purge concurrently', async () => {
    const owners = Array.from({ length: 5 }, () => randomUUID())
    for (const owner of owners) await db.query(ADD, owner, 10, 1, 0)
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const purger = createPurger()
        while (await purger.round());
      }),
    )
    expect(await db.query(LEFT)).toEqual([])
    const ids = (await db.query(TURNS)).map(({ id }) => id)
    expect([ids.length, new Set(ids).size]).toEqual([50, 50])
  })
})
