import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { root } from '@restante/local/settings.ts'
import { Database } from '@restante/service/database'
import {
  createDatabase,
  createTopics,
  EventPublisher,
  engines,
  inboxScope,
  queryRows,
  receivedEvent,
  ServiceProcess,
  type TestTopics,
  waitFor,
} from '@restante/testkit'
import { z } from 'zod'
import { atRate } from '../../../support/open-loop.ts'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { summarize } from '../../harness/statistics.ts'
import { seedOrganization } from '../../load/metrics/seeded-organization.ts'
import { usageOf } from '../../load/processes.ts'
import { Program } from '../../programs/program.ts'
import { measureQueries } from './queries.ts'

const SEEDED = 10_000_000
const INGESTED = 50_000
/** Events that are published at once. */
const CHUNK = 1_000
const INBOXES = 200
const LAG = { rate: 200, seconds: 30 }
const CALLER_KEY = 'caller key of the bench, 32 bytes'
const PEER_KEY = 'key of a pair in the bench, 32 b'

export const metrics: Bench = {
  name: 'metrics',
  about:
    'events counted a second, their lag, and questions about 10,000,000 events of 90 days, compared with a plain table',
  async run(context) {
    const [database, made] = await Promise.all([createDatabase(path.join(root, 'services/metrics')), createTopics()])
    context.cleanUp({ stop: () => database.drop() })
    context.cleanUp({ stop: () => made.delete() })
    const db = new Database({ url: database.url, applicationName: 'bench' })
    context.cleanUp({ stop: () => db.stop() })
    const env = environment(database.url, made.prefix)
    const counted = await measureIngest(context, { db, made, env, database: database.url })
    await seedOrganization(database.url, context.size(SEEDED), context.say)
    const { url, pid } = counted.service
    const served = { url, pid, callerKey: CALLER_KEY, database: database.url }
    return [...counted.figures, ...(await measureQueries(context, served))]
  },
}

interface Counting {
  readonly db: Database
  readonly made: TestTopics
  readonly env: Readonly<Record<string, string>>
  readonly database: string
}

async function measureIngest(context: BenchContext, { db, made, env, database }: Counting) {
  const events = context.size(INGESTED)
  const publisher = context.cleanUp(new EventPublisher(made.kafka))
  const scopes = Array.from({ length: INBOXES }, () => inboxScope())
  const publish = (count: number, from: number) =>
    publisher.publish(
      topics['mail.messages'],
      ...Array.from({ length: count }, (_, index) => {
        const scope = scopes[(from + index) % INBOXES]
        if (scope === undefined) throw new Error('there are no inboxes')
        return receivedEvent(scope, { text: 'The quick brown fox jumps over the lazy dog. '.repeat(40) })
      }),
    )
  context.say(`publishing ${events} events ...`)
  for (let sent = 0; sent < events; sent += CHUNK) await publish(Math.min(CHUNK, events - sent), sent)
  const bare = await bareSeconds({ prefix: made.prefix, database, events })
  const service = await ServiceProcess.start(path.join(root, 'services/metrics/src/main.ts'), env)
  context.cleanUp({ stop: () => service.kill() })
  await consumed(db, events)
  const [span] = await queryRows<{ seconds: number }>(
    db,
    'select extract(epoch from max(consumed_at) - min(consumed_at))::float8 as seconds from consumed',
  )
  const { cpuMs } = await usageOf(service.pid)
  context.say(`lag at ${LAG.rate}/s ...`)
  const seconds = context.quick ? LAG.seconds / 10 : LAG.seconds
  const published = new Date()
  await atRate(LAG.rate, LAG.rate * seconds, (index) => publish(1, index))
  await consumed(db, events + LAG.rate * seconds)
  const lag = summarize(await lags(db, published))
  const reference = { what: 'bare kafkajs', value: events / bare }
  const figures: Figure[] = [
    { name: 'events counted', value: events / (span?.seconds ?? 1), unit: '/s', goal: { atLeast: 5_000 }, reference },
    { name: 'CPU of an event, start included', value: (cpuMs * 1_000) / events, unit: 'µs' },
    { name: `lag at ${LAG.rate}/s, p99`, value: lag.p99, unit: 'ms', goal: { atMost: 5_000 } },
    { name: `lag at ${LAG.rate}/s, p50`, value: lag.p50, unit: 'ms' },
  ]
  return { service, figures }
}

async function consumed(db: Database, events: number): Promise<void> {
  const marks = async () => {
    const [row] = await queryRows<{ count: number }>(db, 'select count(*)::int as count from consumed')
    return (row?.count ?? 0) >= events
  }
  await waitFor(marks, { what: 'all events to be counted', timeout: 300_000, interval: 200 })
}

/** From the time of each event, which is its only point, to the transaction that counted it. */
async function lags(db: Database, since: Date): Promise<number[]> {
  const rows = await queryRows<{ lag: number }>(
    db,
    `with points as (
       select row_number() over (order by at) as place, at
         from (select day * 86400000::bigint + unnest(times) as at from runs where tier = 1 and series = 1
               union all
               select day * 86400000::bigint + unnest(times) from arrivals where tier = 1 and series = 1) as stored
        where at >= $1::float8::bigint)
     select (extract(epoch from marked.consumed_at) * 1000 - points.at)::float8 as lag
       from points
       join (select consumed_at, row_number() over (order by consumed_at) as place
               from consumed where consumed_at >= to_timestamp($1::float8 / 1000)) as marked using (place)`,
    since.getTime(),
  )
  return rows.map(({ lag }) => lag)
}

const outcome = z.object({ seconds: z.number() })

async function bareSeconds(input: { prefix: string; database: string; events: number }): Promise<number> {
  const program = Program.start('consuming', { ...input, mode: 'bare' })
  try {
    return (await program.next(outcome)).seconds
  } finally {
    await program.stop()
  }
}

function environment(databaseUrl: string, prefix: string): Record<string, string> {
  const peers = ['GATEWAY', 'MAIL_INGEST', 'MAIL_SEND', 'DOMAINS_DNS'].flatMap((peer) => [
    [`${peer}_URL`, 'http://127.0.0.1:9'],
    [`PEER_KEY_${peer}`, PEER_KEY],
  ])
  return {
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: prefix,
    PUBLIC_URL: 'http://public.test',
    DOCS_URL: 'http://docs.test',
    CALLER_KEY,
    ...Object.fromEntries(peers),
  }
}
