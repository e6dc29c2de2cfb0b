import { type Caller, missingForEventTypes } from '@restante/contracts/access'
import type {
  MetricEvents,
  MetricEventsQuery,
  MetricRatesQuery,
  MetricUsage,
  MetricUsageQuery,
} from '@restante/contracts/operations'
import { COUNTED_EVENT_TYPES, LIMITS, RATE_TYPES, USAGE_TYPES, type UsageType } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { invalid } from '@restante/service/errors'
import { type Handlers, WrittenJson } from '@restante/service/http'
import type { Scope } from '../series/series.ts'
import { countByPeriod, listEvents } from './events.ts'
import { firstOf, rangeOf, requireFewPeriods, requireKept } from './range.ts'
import { ratesAt } from './rates.ts'
import { timestamps } from './timestamp.ts'
import { usageAt } from './usage.ts'
import { writeEvents, writeUsage } from './written-series.ts'

type Reading = Pick<
  Handlers<'metrics'>,
  'metrics.listEvents' | 'metrics.listUsage' | 'metrics.listRates' | 'metrics.list'
>

const SECOND = 1_000
const { limit: LIMIT, period: PERIOD, window: WINDOW } = LIMITS.metrics

/** Answers what happened in the scope of a caller (identity 9). */
export function readingRoutes(db: Queryable): Reading {
  return {
    'metrics.listEvents': ({ caller, query }) => eventsOf(db, caller, query),
    'metrics.list': ({ caller, query }) => eventsOf(db, caller, query),
    'metrics.listUsage': ({ caller, query }) => usageOf(db, caller, query),
    'metrics.listRates': ({ caller, query }) => ratesOf(db, caller, query),
  }
}

function scopeOf({ organization_id, pod_id, inbox }: Caller): Scope {
  if (inbox !== undefined) return { tier: 'inbox', id: inbox.uid }
  return pod_id === undefined ? { tier: 'organization', id: organization_id } : { tier: 'pod', id: pod_id }
}

async function eventsOf(db: Queryable, caller: Caller, query: MetricEventsQuery): Promise<WrittenJson<MetricEvents>> {
  const now = new Date()
  const range = rangeOf(query, now)
  requireKept(range, now)
  const { event_types: types = COUNTED_EVENT_TYPES, limit = LIMIT.default, descending = false } = query
  const visible = types.filter((type) => missingForEventTypes(caller.credential, [type], 'webhook') === undefined)
  const question = { scope: scopeOf(caller), types: visible, range, limit, descending }
  const grid = { from: range.from, period: query.period === undefined ? 1 : query.period * SECOND }
  const found =
    query.period === undefined ? listEvents(db, question) : countByPeriod(db, { ...question, period: grid.period })
  return new WrittenJson(writeEvents(types, await found, grid))
}

async function usageOf(db: Queryable, caller: Caller, query: MetricUsageQuery): Promise<WrittenJson<MetricUsage>> {
  const scope = scopeOf(caller)
  const range = rangeOf(query, new Date())
  const { usage_types: asked, period: seconds = PERIOD.default, limit = LIMIT.default, descending = false } = query
  const period = seconds * SECOND
  requireFewPeriods(range.to - range.from, period)
  const measurable: readonly UsageType[] = USAGE_TYPES[scope.tier]
  const types = asked === undefined ? measurable : asked.filter((type) => measurable.includes(type))
  const found = await usageAt(db, { scope, types, range, period })
  const shown = new Map(types.map((type) => [type, firstOf(found.get(type) ?? [], limit, descending)]))
  return new WrittenJson(writeUsage(types, shown))
}

async function ratesOf(db: Queryable, caller: Caller, query: MetricRatesQuery) {
  const now = new Date()
  const range = rangeOf(query, now)
  const { rate_types: types = RATE_TYPES, period: seconds = PERIOD.default, window = WINDOW.default } = query
  if (window % seconds !== 0) throw invalid(['window'], `Must be a multiple of \`period\`, which is ${seconds}`)
  const [period, width] = [seconds * SECOND, window * SECOND]
  requireKept(range, now)
  requireFewPeriods(range.to - range.from + width, period)
  const { limit = LIMIT.default, descending = false } = query
  const timestamp = timestamps()
  const found = await ratesAt(db, { scope: scopeOf(caller), types, range, period, window: width })
  return byType(types, (type) =>
    firstOf(found.get(type) ?? [], limit, descending).map(({ at, ...rated }) => ({
      timestamp: timestamp(at),
      ...rated,
    })),
  )
}

/** Every type that was asked for is a member, so that a program that loops over them needs no checks. */
function byType<Name extends string, Entry>(
  types: readonly Name[],
  entriesOf: (type: Name) => Entry[] | undefined,
): Partial<Record<Name, Entry[]>> {
  const answer: Partial<Record<Name, Entry[]>> = {}
  for (const type of types) answer[type] = entriesOf(type) ?? []
  return answer
}
