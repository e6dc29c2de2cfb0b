import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import {
  byLength,
  callerOf,
  collectTopic,
  countRows,
  ServiceProcess,
  type TopicCollection,
  waitFor,
} from '@restante/testkit'
import { FACT_TOPICS } from '../../src/counting/consumers.ts'
import { dayOf } from '../../src/series/series.ts'
import { type MetricsFixture, startMetrics } from '../support/fixture.ts'
import { misplacedRuns } from '../support/runs.ts'
import { randomFrom, randomHistory } from './random-history.ts'
import { beginRebuild, loseOrganizations, switchedOver } from './rebuilding.ts'
import { type Asked, Recount } from './recount.ts'

const MAIN = path.resolve(import.meta.dirname, '../../src/main.ts')
const [HOUR, DAY] = [3_600_000, 86_400_000]
const EVENTS = byLength({ short: 2_000, long: 100_000 })
const QUESTIONS = byLength({ short: 24, long: 200 })
const DAYS = 20
/**
 * How often a replica is killed, the first time while it rebuilds, as every second time; its partitions rest until the
 * brokers miss it.
 */
const KILLS = byLength({ short: 1, long: 4 })
/** The topics hold records of these last days, which a rebuild counts again. What happened before them was published late. */
const HELD_DAYS = 5
/** Records that are published at once. */
const CHUNK = byLength({ short: 250, long: 2_500 })

let metrics: MetricsFixture
let replica: ServiceProcess | undefined
const collections: TopicCollection[] = []
beforeAll(async () => {
  const first = new Date(Date.now() - HELD_DAYS * DAY)
  metrics = await startMetrics(({ time }) => (time < first ? first : time))
})
afterAll(async () => {
  await replica?.kill()
  await Promise.all(collections.map((collection) => collection.stop()))
  await metrics.stop()
})

/** Publishes a history, while a second replica counts, settles and rebuilds too, and is killed. */
async function play(seed: number): Promise<number> {
  const { happened, delivered } = randomHistory(EVENTS, seed, DAYS)
  replica = await ServiceProcess.start(MAIN, metrics.env)
  const chunks = Math.ceil(delivered.length / CHUNK)
  const between = Math.ceil(chunks / (KILLS + 1))
  for (let chunk = 0; chunk < chunks; chunk++) {
    await metrics.publish(...delivered.slice(chunk * CHUNK, (chunk + 1) * CHUNK))
    await metrics.settler.settle()
    if (chunk === 0 || chunk % between !== 0) continue
    if (chunk % (2 * between) === between) {
      // A rebuild finds again what is lost, so an answer that is right afterwards is one of the rebuild.
      await loseOrganizations(metrics.db, dayOf(Date.now()) - HELD_DAYS + 1)
      await beginRebuild(metrics, replica.url)
    }
    await replica.kill()
    replica = await ServiceProcess.start(MAIN, metrics.env)
  }
  return happened.length
}

/** Every record of the topics, read by any Kafka client. */
async function recount(distinct: number): Promise<Recount> {
  for (const { name } of [...FACT_TOPICS, topics.tenancy]) {
    collections.push(await collectTopic(metrics.topics.kafka, name))
  }
  const records = () => collections.flatMap((collection) => collection.records)
  await waitFor(() => new Set(records().map(({ id }) => id)).size === distinct, {
    what: 'all records to be read',
    timeout: 120_000,
    interval: 500,
  })
  return new Recount(records())
}

function callerIn({ tier, id }: Pick<Asked, 'tier' | 'id'>): Caller {
  if (tier === 'organization') return callerOf({ organization_id: id })
  if (tier === 'pod') return callerOf({ pod_id: id, pod_in_path: true })
  return callerOf({ inbox: { uid: id, address: 'i@restante.test', pod_id: id, paused: false } })
}

it(`answers as a count over the topics does, after ${EVENTS} events in disorder, with replicas killed and a rebuild`, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const distinct = await play(seed)
  const counted = await recount(distinct)
  await switchedOver(metrics)
  const marks = "consumed where consumer not like 'metrics.rebuild-%'"
  await waitFor(async () => (await countRows(metrics.db, marks)) === distinct, {
    what: 'all events to be counted',
    timeout: 300_000,
    interval: 200,
  })
  await waitFor(async () => (await countRows(metrics.db, 'deleted_scopes where ended_at is null')) === 0, {
    what: 'the deleted inboxes to be purged',
    timeout: 60_000,
  })
  const random = randomFrom(seed)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  for (let number = 0; number < QUESTIONS; number++) {
    const tier = (['organization', 'pod', 'inbox'] as const)[number % 3] ?? 'organization'
    const ids = counted.scopes(tier)
    const [id = ''] = ids.slice(between(0, ids.length - 1))
    const from = Date.now() - between(HOUR, (DAYS + 1) * DAY)
    const to = Math.min(Date.now(), from + between(1, DAYS * DAY))
    const seconds = between(1, 2) === 1 ? between(60, 86_400) : ([60, 600, 3_600, 86_400][between(0, 3)] ?? 60)
    await compare(counted, { tier, id, from, to, period: seconds * 1_000 }, `seed ${seed}, question ${number}`)
  }
  expect(await misplacedRuns(metrics.db)).toEqual([])
}, 600_000)

async function compare(counted: Recount, asked: Asked, hint: string): Promise<void> {
  const { from, to, period } = asked
  const caller = callerIn(asked)
  const range = { start: new Date(from).toISOString(), end: new Date(to).toISOString() }
  const answers = async (
    operation: 'metrics.listEvents' | 'metrics.listUsage' | 'metrics.listRates',
    query: object,
  ) => {
    const { status, map } = await metrics.ask(operation, caller, { ...range, ...query })
    expect({ hint, status }).toEqual({ hint, status: 200 })
    return Object.entries(map)
  }
  const limit = Math.ceil(period / 20_000) + 1
  for (const [type, entries] of await answers('metrics.listEvents', { period: period / 1_000, limit: 10_000 })) {
    expect({ hint, type, entries }).toEqual({ hint, type, entries: counted.events(type, asked).slice(0, 10_000) })
  }
  const descending = { period: period / 1_000, limit, descending: true }
  for (const [type, entries] of await answers('metrics.listEvents', descending)) {
    const expected = counted.events(type, asked).toReversed().slice(0, limit)
    expect({ hint, type, entries }).toEqual({ hint, type, entries: expected })
  }
  for (const [type, entries] of await answers('metrics.listEvents', { limit })) {
    expect({ hint, type, entries }).toEqual({ hint, type, entries: counted.times(type, asked).slice(0, limit) })
  }
  const coarse = { ...asked, period: Math.max(period, Math.ceil((to - from + DAY) / 200_000) * 1_000) }
  const usage = { period: coarse.period / 1_000, usage_types: 'storage_bytes,message_count,thread_count' }
  for (const [type, entries] of await answers('metrics.listUsage', usage)) {
    expect({ hint, type, entries }).toEqual({ hint, type, entries: counted.usage(type, coarse) })
  }
  for (const [type, entries] of await answers('metrics.listRates', {
    period: usage.period,
    window: usage.period * 3,
  })) {
    const name = type === 'bounce' ? 'bounce' : 'complaint'
    const expected = counted.rates(name, coarse, coarse.period * 3)
    expect({ hint, type, entries }).toEqual({ hint, type, entries: expected })
  }
}
