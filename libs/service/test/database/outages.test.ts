import { randomUUID } from 'node:crypto'
import pg from 'pg'
import {
  ChannelListener,
  type DatabaseOptions,
  isStatementTimeout,
  retryThroughOutage,
  sql,
} from '../../src/database/index.ts'
import { OrmDatabase } from '../../src/database/orm-database.ts'
import { isInfrastructureError, UpstreamError } from '../../src/errors/index.ts'
import { createLogger } from '../../src/telemetry/index.ts'
import { PATIENCE_MS, Wire } from '../../src/testing.ts'
import { PrismaClient } from '../fixtures/generated/client.ts'

const ADMIN_URL = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'
const name = `test_outages_${randomUUID().slice(0, 8)}`
const url = ADMIN_URL.replace(/\/[^/]*$/, `/${name}`)

const insertNote = sql<never, [id: string]>(`insert into notes (id, text) values ($1, '')`)
const one = sql<{ one: number }>('select 1 as one')
const sleep = sql<unknown>('select pg_sleep(30)')
const terminateOthers = sql<unknown>(
  `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
)

async function admin(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: ADMIN_URL })
  await client.connect()
  await client.query(text)
  await client.end()
}

const settled = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  )

/** Checks again until the condition holds. */
async function until(condition: () => Promise<boolean> | boolean, limitMs = PATIENCE_MS): Promise<void> {
  const end = Date.now() + limitMs
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('the condition was not met in time')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const works = (work: () => Promise<unknown>) => () =>
  work().then(
    () => true,
    () => false,
  )

const PATIENT = { connectMs: PATIENCE_MS, lockMs: PATIENCE_MS, statementMs: PATIENCE_MS, answerMs: PATIENCE_MS }

describe('a PostgreSQL outage', () => {
  let wire: Wire
  let db: OrmDatabase<PrismaClient>
  /** Bypasses the wire. */
  let near: OrmDatabase<PrismaClient>
  const open = (to: string, timeouts?: DatabaseOptions['timeouts']) =>
    new OrmDatabase({
      timeouts,
      url: to,
      applicationName: 'test',
      poolSize: 4,
      orm: (adapter) => new PrismaClient({ adapter }),
      begin: (client, work, limits) => client.$transaction(work, limits),
    })

  beforeAll(async () => {
    await admin(`create database ${name}`)
    near = open(url)
    await near.query(sql('create table notes (id uuid primary key, text text not null)'))
  })
  afterAll(async () => {
    await near.stop()
    await admin(`drop database ${name} with (force)`)
  })
  beforeEach(async () => {
    wire = await Wire.to(url)
    db = open(wire.through(url), { connectMs: 1_500, lockMs: 500, statementMs: 1_000, answerMs: 1_500 })
    await until(works(() => db.query(one)))
  })
  afterEach(async () => {
    wire.cut()
    await db.stop()
  })

  /** Every way in which a service calls the database: statement, Prisma, a transaction with either, and readiness. */
  const ways: [string, () => Promise<unknown>][] = [
    ['a statement', () => db.query(one)],
    ['Prisma', () => db.orm.note.count()],
    ['a transaction', () => db.transaction((tx) => tx.query(insertNote, randomUUID()))],
    ['a transaction with Prisma', () => db.transaction(async (tx) => (await tx.orm()).note.count())],
    ['a direct connection', () => db.direct()],
  ]

  it.each(ways)('is classed as an infrastructure failure when connections are refused: %s', async (_, way) => {
    wire.cut()
    expect(isInfrastructureError(await settled(way()))).toBe(true)
    await wire.restore()
    await until(works(way))
  })

  it('is classed as an infrastructure failure when it ends a statement, prepared or Prisma', async () => {
    // Nothing else may end the statements first.
    const patient = open(wire.through(url), PATIENT)
    const running = [
      settled(patient.query(sleep)),
      settled(patient.transaction(async (tx) => (await tx.orm()).$queryRawUnsafe('select pg_sleep(30)'))),
    ]
    const busy = sql<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where datname = '${name}' and query like 'select pg_sleep%'`,
    )
    await until(async () => (await near.query(busy))[0]?.count === 2)
    await near.query(terminateOthers)
    for (const failure of await Promise.all(running)) expect(isInfrastructureError(failure)).toBe(true)
    await until(works(() => patient.query(one)))
    await patient.stop()
  })

  it('fails within seconds when the database hangs, and the database is used again afterwards', async () => {
    const held = Promise.withResolvers<void>()
    const insideTransaction = db.transaction(async (tx) => {
      await tx.query(one)
      wire.hold()
      held.resolve()
      return tx.query(insertNote, randomUUID())
    })
    await held.promise
    const asked = [insideTransaction, ...ways.map(([, way]) => way())]
    const failures = await Promise.all(asked.map(settled))
    for (const failure of failures) expect(isInfrastructureError(failure)).toBe(true)
    await wire.restore()
    for (const [, way] of ways) await until(works(way))
  })

  it('cancels a slow statement on the server, and keeps its connection', async () => {
    const patient = open(wire.through(url), { ...PATIENT, statementMs: 500 })
    const failures = await Promise.all([
      settled(patient.query(sleep)),
      settled(patient.orm.$queryRawUnsafe('select pg_sleep(30)')),
    ])
    for (const failure of failures) expect(isInfrastructureError(failure)).toBe(true)
    expect(String(failures[0])).toContain('statement timeout')
    await patient.query(one)
    await patient.stop()
  })

  it('bounds the wait for a locked row, prepared or Prisma', async () => {
    const id = randomUUID()
    await near.query(insertNote, id)
    const waiting = await near.transaction(async (holder) => {
      await holder.query(sql<never, [string]>('update notes set text = text where id = $1'), id)
      return Promise.all([
        settled(db.query(sql<never, [string]>('delete from notes where id = $1'), id)),
        settled(db.orm.note.delete({ where: { id } })),
      ])
    })
    for (const failure of waiting) expect(isInfrastructureError(failure)).toBe(true)
  })

  it('ends with LISTEN restored as soon as the database is back', async () => {
    let rings = 0
    const log = createLogger({ service: 'test', level: 'silent' })
    const listener = new ChannelListener({ db, channel: 'wakeup', notify: () => rings++, log })
    await listener.start()
    await until(() => rings === 1)
    wire.cut()
    await wire.restore()
    await until(() => rings === 2)
    await near.query(sql(`notify wakeup`))
    await until(() => rings === 3)
    await listener.stop()
  })

  it('is retried through for facts that must be recorded, until the signal aborts', async () => {
    wire.cut()
    const id = randomUUID()
    const written = retryThroughOutage(new AbortController().signal, () => db.query(insertNote, id))
    const late = settled(retryThroughOutage(AbortSignal.timeout(300), () => db.query(insertNote, id)))
    expect(isInfrastructureError(await late)).toBe(true)
    await wire.restore()
    await written
    await expect(retryThroughOutage(new AbortController().signal, () => db.query(insertNote, id))).rejects.toThrow(
      'duplicate key',
    )
  })
})

it('is told apart from failures of the work', () => {
  const coded = (code: string) => Object.assign(new Error('x'), { code })
  for (const code of ['ECONNRESET', '57P01', '57014', '25P03', '55P03', '40P01', '53300', '08006', 'P1017'])
    expect(isInfrastructureError(coded(code))).toBe(true)
  for (const code of ['23505', '22P02', '25P02', '42P01', 'P2002'])
    expect(isInfrastructureError(coded(code))).toBe(false)
  expect(['57014', '57P01', '55P03'].map((code) => isStatementTimeout(coded(code)))).toEqual([true, false, false])
  expect(isStatementTimeout(new Error('wrapped', { cause: new Error('Query read timeout') }))).toBe(true)
  expect(isInfrastructureError(new UpstreamError('busy'))).toBe(true)
  expect(isInfrastructureError(new Error('wrapped', { cause: coded('ECONNREFUSED') }))).toBe(true)
  expect(isInfrastructureError(new TypeError('x is not a function'))).toBe(false)
})
