import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { Database, migrate, sql } from '../../src/database/index.ts'

const ADMIN_URL = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'

describe('migrate', () => {
  let name: string
  let url: string
  let folder: string
  beforeEach(async () => {
    name = `test_migrate_${randomUUID().slice(0, 8)}`
    url = ADMIN_URL.replace(/\/[^/]*$/, `/${name}`)
    await query(ADMIN_URL, `create database ${name}`)
    folder = await mkdtemp(path.join(tmpdir(), 'migrations-'))
    await add('20260101000000_init', 'create table notes (id int primary key)')
    await migrate({ url, folder })
  })
  afterEach(async () => {
    await query(ADMIN_URL, `drop database ${name} with (force)`)
    await rm(folder, { recursive: true })
  })

  async function addManifest(dependencies: Record<string, string>): Promise<void> {
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ dependencies }))
  }

  /** @param library where a library lies that brings the migration; default: the package's own. */
  async function add(migration: string, text: string, library?: string): Promise<void> {
    const directory = directoryOf(migration, library)
    await mkdir(directory, { recursive: true })
    await writeFile(path.join(directory, 'migration.sql'), text)
  }

  function remove(migration: string, library?: string): Promise<void> {
    return rm(directoryOf(migration, library), { recursive: true })
  }

  function directoryOf(migration: string, library?: string): string {
    return path.join(folder, library === undefined ? 'prisma/migrations' : path.join(library, 'migrations'), migration)
  }

  const BOX = 'node_modules/@restante/box'

  it('applies new migrations once, and refuses an edited one', async () => {
    await add('20260102000000_more', 'create table more (id int primary key)')
    const [first, second] = await Promise.all([migrate({ url, folder }), migrate({ url, folder })])
    expect([...first, ...second]).toEqual(['20260102000000_more'])
    await add('20260102000000_more', 'create table more (id bigint primary key)')
    await expect(migrate({ url, folder })).rejects.toThrow('was edited after it was applied')
  })

  it('goes unnoticed by a running process, whose prepared statements a new column would break', async () => {
    const db = new Database({ url, applicationName: 'mail-send', poolSize: 3 })
    const notes = sql<{ id: number }>('select * from notes')
    const ask = () => db.query(notes)
    const askWithin = () => db.transaction((tx) => tx.query(notes))
    const all = () => Promise.all([ask(), askWithin(), ask(), askWithin()])
    const sessions = async () => {
      const text =
        "select pid from pg_stat_activity where application_name = 'mail-send' and datname = current_database()"
      return (await query(url, text)).map(({ pid }) => pid)
    }
    try {
      await all()
      const before = await sessions()
      expect(before).toHaveLength(3)
      await add('20260102000000_column', 'alter table notes add column text text')
      await migrate({ url, folder })
      expect((await sessions()).filter((pid) => before.includes(pid))).toEqual([])
      expect(await all()).toEqual([[], [], [], []])
      // A run that died after its last migration left the sessions; the next one renews them.
      const left = await sessions()
      await query(url, 'update _prisma_migrations set finished_at = clock_timestamp()')
      await migrate({ url, folder })
      expect((await sessions()).filter((pid) => left.includes(pid))).toEqual([])
      // What a migration of an earlier release, or a hand, has changed breaks no statement for good, either.
      await query(url, 'alter table notes add column other text')
      expect(await all()).toEqual([[], [], [], []])
    } finally {
      await db.stop()
    }
  })

  it('applies the migrations of the libraries that a package depends on, before its own', async () => {
    await addManifest({ '@restante/box': 'workspace:*', pg: '8.0.0' })
    await add('20260102000000_init', 'create table boxes (id int primary key)', BOX)
    await add('20260103000000_own', 'alter table boxes add column own int')
    await expect(migrate({ url, folder })).resolves.toEqual(['@restante/box/20260102000000_init', '20260103000000_own'])
    await expect(migrate({ url, folder })).resolves.toEqual([])
  })

  it('leaves the tables of a library alone that a package no longer depends on', async () => {
    await addManifest({ '@restante/box': 'workspace:*' })
    await add('20260102000000_init', 'create table boxes (id int primary key)', BOX)
    await migrate({ url, folder })
    await addManifest({})
    await expect(migrate({ url, folder })).resolves.toEqual([])
  })

  it('refuses a database with an applied migration that is gone, unless a later release applied it', async () => {
    await addManifest({ '@restante/box': 'workspace:*' })
    await add('20260101000000_init', 'create table boxes (id int primary key)', BOX)
    await add('20260105000000_wider', 'alter table boxes add column width int', BOX)
    await add('20260102000000_more', 'create table more (id int primary key)')
    await migrate({ url, folder })
    await remove('20260105000000_wider', BOX)
    await remove('20260102000000_more')
    const lines: string[] = []
    await expect(migrate({ url, folder, log: (line) => lines.push(line) })).resolves.toEqual([])
    expect(lines).toEqual([
      'the database is ahead of this release by 20260102000000_more, @restante/box/20260105000000_wider',
    ])
    // The present release has a later one of its own: the database was never ahead of it.
    await add('20260103000000_other', 'select 1')
    await expect(migrate({ url, folder })).rejects.toThrow('20260102000000_more was applied here but its file is gone')
  })

  it('lets a later release go on where it was after an earlier one was brought back', async () => {
    await add('20260102000000_more', 'create table more (id int primary key)')
    await migrate({ url, folder })
    await remove('20260102000000_more')
    await migrate({ url, folder })
    await add('20260102000000_more', 'create table more (id int primary key)')
    await add('20260103000000_most', 'create table most (id int primary key)')
    await expect(migrate({ url, folder })).resolves.toEqual(['20260103000000_most'])
  })

  it('gives up a lock that it does not get in time, so that the services go on, and tries again', async () => {
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query('select from notes')
      await add('20260102000000_wider', 'alter table notes add column width int')
      const patience = { lockTimeoutMs: 50, pauseMs: 50, attempts: 1 }
      await expect(migrate({ url, folder, patience })).rejects.toThrow(/20260102000000_wider failed: .*lock timeout/)
      const waiting = migrate({ url, folder, patience: { ...patience, attempts: 1_000 } })
      // A statement of a service, which would stand in line behind a migration that waits on.
      for (let time = 0; time < 5; time++) await query(url, 'select from notes')
      await holder.query('commit')
      await expect(waiting).resolves.toEqual(['20260102000000_wider'])
    } finally {
      await holder.end()
    }
  })

  it('builds indexes without a transaction while two runs of it are in progress', async () => {
    const text = `-- outside a transaction
drop index concurrently if exists notes_a;
create index concurrently notes_a on notes (id);

-- A comment; with a semicolon.
create index concurrently notes_b on notes (id desc);
`
    await add('20260102000000_indexes', text)
    const [first, second] = await Promise.all([migrate({ url, folder }), migrate({ url, folder })])
    expect([...first, ...second]).toEqual(['20260102000000_indexes'])
    const valid = 'select indexrelid::regclass::text as name from pg_index where indrelid = $1::regclass and indisvalid'
    const rows = await query(url, valid, ['notes'])
    expect(rows.map((row) => row['name']).sort()).toEqual(['notes_a', 'notes_b', 'notes_pkey'])
  })

  it('refuses a folder without migrations', async () => {
    await expect(migrate({ url, folder: path.join(folder, 'elsewhere') })).rejects.toThrow('There are no migrations')
  })
})

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
