import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { migrate, sql, uniqueViolation } from '../../src/database/index.ts'
import { OrmDatabase } from '../../src/database/orm-database.ts'
import { PATIENCE_MS } from '../../src/testing.ts'
import { PrismaClient } from '../fixtures/generated/client.ts'

const ADMIN_URL = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'
const name = `test_service_${randomUUID().slice(0, 8)}`
const url = ADMIN_URL.replace(/\/[^/]*$/, `/${name}`)

const insertNote = sql<{ id: string }, [id: string, text: string]>(
  'insert into notes (id, text) values ($1, $2) returning id',
)
const countNotes = sql<{ count: number }>('select count(*)::int as count from notes')
const insertSerial = sql<{ total: number }, [id: string]>(
  `insert into notes (id, text) select $1, count(*)::text from notes returning text::int as total`,
)

async function admin(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: ADMIN_URL })
  await client.connect()
  await client.query(text)
  await client.end()
}

describe('Database', () => {
  let db: OrmDatabase<PrismaClient>
  let folder: string

  beforeAll(async () => {
    await admin(`create database ${name}`)
    folder = await mkdtemp(path.join(tmpdir(), 'migrations-'))
    const init = path.join(folder, 'prisma/migrations/20260101000000_init')
    await mkdir(init, { recursive: true })
    await writeFile(path.join(init, 'migration.sql'), 'create table notes (id uuid primary key, text text not null)')
    await migrate({ url, folder })
    db = new OrmDatabase({
      url,
      applicationName: 'test',
      poolSize: 4,
      orm: (adapter) => new PrismaClient({ adapter }),
      begin: (client, work, limits) => client.$transaction(work, limits),
    })
  })

  afterAll(async () => {
    await db.stop()
    await admin(`drop database ${name} with (force)`)
    await rm(folder, { recursive: true })
  })

  async function count(): Promise<number> {
    const [row] = await db.query(countNotes)
    return row?.count ?? -1
  }

  beforeEach(async () => {
    await db.orm.note.deleteMany()
  })

  it('does not let PostgreSQL compile statements that read many rows', async () => {
    const [setting] = await db.query(sql<{ jit: string }>(`select current_setting('jit') as jit`))
    expect(setting).toEqual({ jit: 'off' })
  })

  it('commits prepared statements and Prisma code of one transaction together', async () => {
    await db.transaction(async (tx) => {
      await tx.query(insertNote, randomUUID(), 'prepared')
      const orm = await tx.orm()
      await orm.note.create({ data: { id: randomUUID(), text: 'prisma' } })
      expect(await orm.note.count()).toBe(2)
      expect(await count()).toBe(0)
    })
    expect(await count()).toBe(2)
  })

  it('rolls back prepared statements and Prisma code when the work fails after them', async () => {
    const failing = db.transaction(async (tx) => {
      await tx.query(insertNote, randomUUID(), 'prepared')
      await (await tx.orm()).note.create({ data: { id: randomUUID(), text: 'prisma' } })
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await count()).toBe(0)
  })

  it('rolls back when Prisma refuses a row, and names the violated constraint', async () => {
    const id = randomUUID()
    const failing = db.transaction(async (tx) => {
      await tx.query(insertNote, id, 'first')
      await (await tx.orm()).note.create({ data: { id, text: 'second' } })
    })
    const error = await failing.catch((error: unknown) => error)
    expect(uniqueViolation(error)).toBeDefined()
    expect(await count()).toBe(0)
  })

  it('isolates parallel Prisma transactions from each other', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        db.transaction(async (tx) => {
          const orm = await tx.orm()
          await orm.note.create({ data: { id: randomUUID(), text: `${index}` } })
          if (index % 2) throw new Error('odd')
        }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(10)
    expect(await count()).toBe(10)
  })

  it('calls afterCommit only after the commit', async () => {
    const seen: number[] = []
    await db.transaction(async (tx) => {
      tx.afterCommit(() => seen.push(1))
      await tx.query(insertNote, randomUUID(), 'x')
      expect(seen).toEqual([])
    })
    expect(seen).toEqual([1])
    await db
      .transaction(async (tx) => {
        tx.afterCommit(() => seen.push(2))
        throw new Error('no')
      })
      .catch(() => {})
    expect(seen).toEqual([1])
  })

  it('refuses statements of a transaction that has ended: the connection may be in another one by now', async () => {
    const kept = await db.transaction(async (tx) => tx)
    await expect(kept.query(insertNote, randomUUID(), 'late')).rejects.toThrow('The transaction is over')
    const late: Promise<unknown>[] = []
    const failing = db.transaction(async (tx) => {
      late.push(new Promise((resolve) => setImmediate(resolve)).then(() => tx.query(insertNote, randomUUID(), 'late')))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await expect(late[0]).rejects.toThrow('The transaction is over')
    expect(await count()).toBe(0)
  })

  it('runs statements that are started together in the order of the calls, each after the one before it', async () => {
    const id = randomUUID()
    const results = await db.transaction((tx) =>
      Promise.all([tx.query(countNotes), tx.query(insertNote, id, 'first'), tx.query(countNotes)]),
    )
    expect(results).toEqual([[{ count: 0 }], [{ id }], [{ count: 1 }]])
  })

  it('rolls back statements that were started together when one fails, and reports the first failure', async () => {
    const id = randomUUID()
    // Declared for this test: they reach the server for the first time in a transaction that has failed by then.
    const fresh = sql<{ text: string }, [id: string]>('select text from notes where id = $1 -- first use')
    const failing = db.transaction((tx) =>
      Promise.all([tx.query(insertNote, id, 'one'), tx.query(insertNote, id, 'two'), tx.query(fresh, id)]),
    )
    await expect(failing).rejects.toThrow(/duplicate key/)
    expect(await count()).toBe(0)
    // Its failure is reported after that of the statement behind it.
    const late = async (work: Promise<unknown>): Promise<void> => {
      await work
    }
    const nested = db.transaction((tx) =>
      Promise.all([
        late(late(Promise.all([tx.query(insertNote, id, 'one'), tx.query(insertNote, id, 'two')]))),
        tx.query(countNotes),
      ]),
    )
    await expect(nested).rejects.toThrow(/duplicate key/)
    for (let time = 0; time < 8; time++) expect(await db.query(fresh, id)).toEqual([])
  })

  it('retries a serializable transaction that lost against a concurrent one', async () => {
    const totals = await Promise.all(
      Array.from({ length: 4 }, () =>
        db.transaction(async (tx) => (await tx.query(insertSerial, randomUUID()))[0]?.total, {
          isolation: 'serializable',
          retries: 50,
        }),
      ),
    )
    expect([...totals].sort()).toEqual([0, 1, 2, 3])
  })

  it('keeps working after its connections were terminated', async () => {
    await admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    await retry(async () => expect(await count()).toBe(0))
  })
})

async function retry(attempt: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
