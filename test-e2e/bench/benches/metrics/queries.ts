import type { OperationId } from '@restante/contracts/operations'
import { operations } from '@restante/contracts/operations'
import { callerOf } from '@restante/testkit'
import pg from 'pg'
import type { BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { measureRound } from '../../load/http/round.ts'
import { ORGANIZATION } from '../../load/metrics/seeded-organization.ts'

const SECONDS = 9
const REACH_MS = 90 * 86_400_000
const GOAL = { atMost: 50 }

export interface Served {
  readonly url: string
  readonly pid: number
  readonly callerKey: string
  readonly database: string
}

interface Question {
  readonly name: string
  readonly operation: OperationId
  readonly query: Readonly<Record<string, string>>
  /** The same question to the plain table, which takes from milliseconds to a minute. */
  readonly plain?: string
}

/** Every question is about all types over 90 days, from an odd millisecond on. */
function questions(start: number): Question[] {
  const from = new Date(start).toISOString()
  const events = [1, 60, 600, 3_600, 7_776, 21_600, 86_400].map(
    (period): Question => ({
      name: `events by ${period} s`,
      operation: 'metrics.listEvents',
      query: { start: from, period: String(period) },
      ...([60, 7_776].includes(period) && { plain: plainByPeriod(start, period) }),
    }),
  )
  return [
    ...events,
    { name: 'single events', operation: 'metrics.listEvents', query: { start: from }, plain: plainList(start) },
    { name: 'usage', operation: 'metrics.listUsage', query: { start: from, period: '7776' } },
    { name: 'rates', operation: 'metrics.listRates', query: { start: from, period: '10368', window: '2592000' } },
  ]
}

function plainByPeriod(start: number, seconds: number): string {
  return `
select type, json_agg(json_build_array(index, count) order by index)
  from (select type, index, count(*) as count, row_number() over (partition by type order by index) as place
          from (select type, floor((extract(epoch from at) * 1000 - ${start}) / ${seconds * 1_000})::bigint as index
                  from plain_events
                 where organization_id = '${ORGANIZATION}' and at >= to_timestamp(${start} / 1000.0)) as placed
         group by type, index) as counted
 where place <= 1000 group by type`
}

function plainList(start: number): string {
  return `
select type, (select json_agg(at)
                from (select at from plain_events
                       where organization_id = '${ORGANIZATION}' and type = types.type
                         and at >= to_timestamp(${start} / 1000.0) order by at limit 1000) as first)
  from generate_series(1, 10) as types(type)`
}

export async function measureQueries(context: BenchContext, served: Served): Promise<Figure[]> {
  const figures: Figure[] = []
  // A minute later, so that the range is still kept at the end of the bench.
  const start = Date.now() - REACH_MS + 30 * 60_000 + 123
  for (const question of questions(start)) figures.push(...(await measure(context, served, question)))
  return figures
}

async function measure(context: BenchContext, served: Served, question: Question): Promise<Figure[]> {
  const { name, operation, query, plain } = question
  const url = `${served.url}${operations[operation].path}?${new URLSearchParams(query)}`
  const caller = callerOf({ organization_id: ORGANIZATION })
  const credentials = { service: 'metrics', secret: served.callerKey, operation, caller } as const
  const round = await measureRound(context, { url, pid: served.pid, credentials, connections: 1, seconds: SECONDS })
  const { p50, p99 } = round
  context.say(`${name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
  const reference =
    plain === undefined ? undefined : { what: 'plain table', value: await timeOf(served.database, plain) }
  return [
    { name: `${name}, p99`, value: p99, unit: 'ms', goal: GOAL },
    { name: `${name}, p50`, value: p50, unit: 'ms', ...(reference && { reference }) },
    { name: `${name}, CPU of the service`, value: round.cpuPerRequest / 1_000, unit: 'ms' },
  ]
}

/** How long a statement takes the second time, in milliseconds. */
async function timeOf(url: string, text: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
    const began = performance.now()
    await client.query(text)
    return performance.now() - began
  } finally {
    await client.end()
  }
}
