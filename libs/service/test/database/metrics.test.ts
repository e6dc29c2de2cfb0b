import { register } from 'prom-client'
import { Database, sqlUnprepared } from '../../src/database/index.ts'

const url = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'
const ONE = sqlUnprepared<{ one: number }>('select 1 as one')
const MISTAKE = sqlUnprepared<never>('select from nowhere')
const TERMINATED = sqlUnprepared<never>('select pg_terminate_backend(pg_backend_pid())')
const TWICE = sqlUnprepared<never>(
  'do $$ begin create temporary table twice (id int primary key); insert into twice values (1), (1); end $$',
)

async function metricOf(name: string, labels: Record<string, string> = {}): Promise<number> {
  const found = (await register.getSingleMetric(name)?.get())?.values ?? []
  const matching = found.find((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
  return matching?.value ?? Number.NaN
}

describe('the metrics of a database', () => {
  let db: Database
  /** Of pools that other tests of this worker have left open. */
  let othersMost: number
  let othersActive: number

  beforeEach(async () => {
    othersMost = await metricOf('restante_database_connections_max')
    othersActive = await metricOf('restante_database_connections', { state: 'active' })
    db = new Database({ url, applicationName: 'test', poolSize: 1 })
  })
  afterEach(() => db.stop())

  it('show that the pool is used up, and how many wait for it', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const holding = Promise.withResolvers<void>()
    const first = db.transaction(async (tx) => {
      await tx.query(ONE)
      holding.resolve()
      await held
    })
    await holding.promise
    const second = db.query(ONE)
    expect(await metricOf('restante_database_connections_max')).toBe(othersMost + 1)
    expect(await metricOf('restante_database_connections', { state: 'active' })).toBe(othersActive + 1)
    expect(await metricOf('restante_database_waiting')).toBe(1)
    release()
    await Promise.all([first, second])
    expect(await metricOf('restante_database_waiting')).toBe(0)
  })

  it('count failures of PostgreSQL by class, and neither constraints nor failures of the work', async () => {
    const counted = async () => ({
      infrastructure: await metricOf('restante_database_errors_total', { class: 'infrastructure' }),
      other: await metricOf('restante_database_errors_total', { class: 'other' }),
    })
    const before = await counted()
    await expect(db.query(MISTAKE)).rejects.toThrow('does not exist')
    await expect(db.query(TWICE)).rejects.toThrow('duplicate key')
    await expect(db.transaction(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
    expect(await counted()).toEqual({ ...before, other: before.other + 1 })
    await expect(db.transaction((tx) => tx.query(TERMINATED))).rejects.toThrow(/terminat/)
    expect(await counted()).toEqual({ infrastructure: before.infrastructure + 1, other: before.other + 1 })
  })

  it('count connections that fail because of TLS or the credentials', async () => {
    const infrastructure = () => metricOf('restante_database_errors_total', { class: 'infrastructure' })
    const before = await infrastructure()
    const misconfigured = new Database({ url: `${url}?sslmode=verify-full`, applicationName: 'test', poolSize: 1 })
    await expect(misconfigured.query(ONE)).rejects.toThrow(/^PostgreSQL: /)
    await misconfigured.stop()
    expect(await infrastructure()).toBe(before + 1)
  })

  it('measure transactions, failed ones included', async () => {
    const count = async () => {
      const found = await register.getSingleMetric('restante_database_transaction_seconds')?.get()
      return found?.values.find(({ labels }) => labels['le'] === '+Inf')?.value ?? 0
    }
    const before = await count()
    await db.transaction((tx) => tx.query(ONE))
    await expect(db.transaction((tx) => tx.query(MISTAKE))).rejects.toThrow('does not exist')
    expect(await count()).toBe(before + 2)
  })
})
