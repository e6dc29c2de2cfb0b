import path from 'node:path'
import { Database } from '@restante/service/database'
import { createDatabase, DnsZone, freePort, type TestDatabase, waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import type { QueryType, Question } from '../../src/dns/answer.ts'
import { SharedPace } from '../../src/dns/pace.ts'
import { Resolvers } from '../../src/dns/resolvers.ts'

const zones = { first: new DnsZone(), second: new DnsZone() }
let resolvers: Resolvers

beforeAll(async () => {
  await Promise.all([zones.first.start(), zones.second.start()])
  resolvers = new Resolvers({ servers: [zones.first.address, zones.second.address] })
})

afterAll(() => Promise.all([zones.first.stop(), zones.second.stop()]))

describe('Resolvers', () => {
  it('ask every DNS server and return the answer of each', async () => {
    zones.first.set('each.test', { type: 'MX', exchange: 'mx.each.test', priority: 5 })
    expect(await resolvers.askAll({ name: 'each.test', type: 'MX' })).toEqual([
      { kind: 'records', records: [expect.objectContaining({ exchange: 'mx.each.test', priority: 5 })] },
      { kind: 'absent', code: 'ENOTFOUND' },
    ])
  })

  it('prefer records of one server to a stale absence at another and to a failure', async () => {
    zones.first.fail('best.test')
    zones.second.set('best.test', { type: 'TXT', data: 'here' })
    expect(await resolvers.ask({ name: 'best.test', type: 'TXT' })).toMatchObject({ records: [['here']] })
    zones.second.remove('best.test')
    expect(await resolvers.ask({ name: 'best.test', type: 'TXT' })).toMatchObject({ kind: 'absent' })
  })

  it('return an empty answer as absence, SERVFAIL and silence as failures', async () => {
    zones.first.set('outcome.test', { type: 'A', address: '192.0.2.1' })
    zones.second.silence('outcome.test')
    expect(await resolvers.askAll({ name: 'outcome.test', type: 'MX' })).toEqual([
      { kind: 'absent', code: 'ENODATA' },
      { kind: 'failed', code: 'ETIMEOUT' },
    ])
    zones.first.fail('outcome.test')
    const [first] = await resolvers.askAll({ name: 'outcome.test', type: 'MX' })
    expect(first).toEqual({ kind: 'failed', code: 'ESERVFAIL' })
  })

  it('send a query once more when a server stays silent', async () => {
    zones.first.silence('silent.test')
    zones.second.set('silent.test')
    const [first] = await resolvers.askAll({ name: 'silent.test', type: 'A' })
    expect(first).toEqual({ kind: 'failed', code: 'ETIMEOUT' })
    expect(zones.first.questions.filter(({ name }) => name === 'silent.test')).toHaveLength(2)
  })

  it('keep 100 records of a huge answer, and each text in one piece', async () => {
    const alone = new Resolvers({ servers: [zones.first.address] })
    const hosts = Array.from({ length: 900 }, (_, index) => `mx${index}.huge.test`)
    zones.first.set('huge.test', ...hosts.map((exchange) => ({ type: 'MX', exchange, priority: 1 }) as const))
    zones.first.set('long.test', { type: 'TXT', data: 'x'.repeat(2_000) })
    // The zone is in this process, which may not get to its answer within the time of a query.
    const records = <T extends QueryType>(question: Question<T>) =>
      waitFor(
        async () => {
          const answer = await alone.ask(question)
          return answer.kind === 'records' ? answer.records : undefined
        },
        { what: `records of ${question.name}` },
      )
    expect(await records({ name: 'huge.test', type: 'MX' })).toHaveLength(100)
    expect(await records({ name: 'long.test', type: 'TXT' })).toEqual([['x'.repeat(2_000)]])
  })

  it('take a server that cannot be reached for a failure', async () => {
    const unreachable = new Resolvers({ servers: [`127.0.0.1:${await freePort()}`] })
    expect(await unreachable.ask({ name: 'unreachable.test', type: 'A' })).toMatchObject({ kind: 'failed' })
    expect(unreachable.quorum).toBe(1)
    expect(resolvers.quorum).toBe(2)
  })

  it('ask again each time, without a cache of their own', async () => {
    zones.first.set('cached.test', { type: 'TXT', data: 'old' })
    zones.second.set('cached.test', { type: 'TXT', data: 'old' })
    await resolvers.ask({ name: 'cached.test', type: 'TXT' })
    zones.first.set('cached.test', { type: 'TXT', data: 'new' })
    expect(await resolvers.ask({ name: 'cached.test', type: 'TXT' })).toMatchObject({ records: [['new']] })
  })

  it('throw the code of the failure where a caller needs records', async () => {
    zones.first.fail('none.test')
    zones.second.fail('none.test')
    await expect(resolvers.resolve('none.test', 'SOA')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    zones.second.remove('none.test').set('none.test')
    await expect(resolvers.resolve('none.test', 'NS')).rejects.toMatchObject({ code: 'ENODATA' })
  })

  it('count queries by outcome', async () => {
    const before = await counted('absent')
    await resolvers.ask({ name: 'counted.test', type: 'AAAA' })
    expect((await counted('absent')) - before).toBe(2)
  })
})

describe('SharedPace', () => {
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

  it('spreads the queries of several processes over time, at one rate for all', async () => {
    const paces = [new SharedPace(db, 100), new SharedPace(db, 100)]
    const { signal } = new AbortController()
    const began = performance.now()
    await Promise.all(paces.flatMap((pace) => Array.from({ length: 10 }, () => pace.take(2, signal))))
    // 40 queries, the last two of which may begin after 380 ms; a timer may fire a millisecond early.
    expect(performance.now() - began).toBeGreaterThanOrEqual(370)
  })

  it('lets go of a caller whose work is aborted', async () => {
    const pace = new SharedPace(db, 0.01)
    const { signal } = new AbortController()
    await pace.take(1, signal)
    await expect(pace.take(1, AbortSignal.timeout(10))).rejects.toThrow()
  })
})

async function counted(outcome: string): Promise<number> {
  const metric = await register.getSingleMetric('restante_dns_queries_total')?.get()
  return metric?.values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
}
