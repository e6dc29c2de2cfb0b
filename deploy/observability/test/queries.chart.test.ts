import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type ObservedSystem, startObserved } from '@restante/test-e2e/observability/observed-system.ts'
import { type Metrics, PATIENCE_MS, type Series, waitFor } from '@restante/testkit'
import { readDashboards, shown } from './dashboards.ts'
import { type DeclaredMetric, readDeclared } from './declared.ts'
import { type Matcher, type ParsedQuery, parseQuery } from './promql.ts'
import { readRules } from './rules.ts'

/** A query, and where it stands. */
interface Placed extends ParsedQuery {
  readonly place: string
  readonly expr: string
  /** Labels that the text beside the query fills in. */
  readonly named: readonly string[]
}

/** Labels that the scrape gives to every series. */
const TARGET_LABELS = new Set([
  'job',
  'namespace',
  'service',
  'workload',
  'instance',
  'pod',
  'alertname',
  'alertstate',
  'severity',
])
/** Series that Prometheus makes itself. */
const OF_PROMETHEUS = new Set(['up', 'ALERTS'])
/** Series that begin with an event that this test does not cause. */
const RARE = new Set([
  // A 5xx is a failure of ours, and 4xx depend on clients.
  'restante_http_requests_total status',
  // Components are named while they fail.
  'restante_unready component',
  'restante_degraded component',
  // They are measured where an authority for certificates is configured.
  'restante_certificates state',
])

describe('every query of dashboards and alerts', () => {
  let observed: ObservedSystem
  let folder: string
  let queries: readonly Placed[]
  let records: ReadonlySet<string>
  let declared: ReadonlyMap<string, DeclaredMetric>
  let names: ReadonlySet<string>
  let series: readonly Series[]

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'restante-observed-'))
    const rules = await readRules()
    records = new Set(rules.flatMap((rule) => ('record' in rule ? [rule.record] : [])))
    queries = [...(await queriesOfDashboards()), ...rules.map(queryOfRule)]
    declared = await readDeclared()
    observed = await startObserved(folder)
    await observed.converse()
    const read = await waitFor(() => allMeasured(observed), {
      what: 'gauges that are measured at intervals',
      timeout: 2 * PATIENCE_MS,
    })
    series = read.flatMap((metrics) => metrics.series)
    names = new Set(read.flatMap((metrics) => [...metrics.names]))
  }, 600_000)
  afterAll(async () => {
    await observed?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** The series that a process exports, of the metrics of this selector. */
  const exportedOf = (metric: string) => series.filter(({ name }) => name === metric)
  const isForeign = (metric: string) => OF_PROMETHEUS.has(metric) || records.has(metric)

  it('names metrics that a running system exports', () => {
    const missing = queries.flatMap(({ place, selectors }) =>
      selectors
        .filter(({ metric }) => !isForeign(metric) && !names.has(metric))
        .map(({ metric }) => `${place}: ${metric}`),
    )
    expect(missing).toEqual([])
  })

  it('names labels that these metrics have', () => {
    const wrong = queries.flatMap(({ place, selectors, labels, named }) => {
      const own = new Set(selectors.flatMap(({ metric }) => declared.get(metric)?.labels ?? []))
      const used = [
        ...selectors.flatMap(({ metric, matchers }) =>
          isForeign(metric) ? [] : matchers.map(({ label }) => [label, declared.get(metric)?.labels ?? []] as const),
        ),
        ...[...labels, ...named].map((label) => [label, [...own]] as const),
      ]
      if (selectors.some(({ metric }) => records.has(metric))) return []
      return used
        .filter(([label, known]) => !TARGET_LABELS.has(label) && !known.includes(label))
        .map(([label]) => `${place}: ${label}`)
    })
    expect(wrong).toEqual([])
  })

  it('asks for values of labels that occur', () => {
    const absent = queries.flatMap(({ place, selectors }) =>
      selectors.flatMap(({ metric, matchers }) =>
        matchers
          .filter(({ label, op }) => !TARGET_LABELS.has(label) && (op === '=' || op === '=~'))
          .filter(({ label }) => !isForeign(metric) && !RARE.has(`${metric} ${label}`))
          .filter((matcher) => !exportedOf(metric).some(({ labels }) => matches(matcher, labels[matcher.label] ?? '')))
          .map(({ label, op, value }) => `${place}: ${metric}{${label}${op}"${value}"}`),
      ),
    )
    expect(absent).toEqual([])
  })

  it('can be looked up: docs/metrics.md lists every metric that is exported', () => {
    expect([...names].filter((name) => !declared.has(name)).sort()).toEqual([])
  })
})

async function queriesOfDashboards(): Promise<Placed[]> {
  const dashboards = await readDashboards()
  return dashboards.flatMap((dashboard) =>
    shown(dashboard).flatMap(({ title, targets }) =>
      targets.map(({ expr, legendFormat }) => ({
        ...parseQuery(expr),
        place: `${dashboard.title}: ${title}`,
        expr,
        named: Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label = '']) => label),
      })),
    ),
  )
}

function queryOfRule(rule: Awaited<ReturnType<typeof readRules>>[number]): Placed {
  const place = 'alert' in rule ? rule.alert : rule.record
  return { ...parseQuery(rule.expr), place, expr: rule.expr, named: [] }
}

/** Gauges that are read from a database or from Kafka at intervals. */
const AT_INTERVALS = ['restante_dead_letters', 'restante_purges_waiting', 'restante_delivery_queue_waiting']

async function allMeasured(observed: ObservedSystem): Promise<Metrics[] | undefined> {
  const read = [...(await observed.read()).values()]
  const absent = AT_INTERVALS.filter((name) => !read.some((metrics) => metrics.value(name) !== undefined))
  if (absent.length > 0) throw new Error(`there is no series of ${absent.join(', ')}`)
  return read
}

function matches({ op, value }: Matcher, actual: string): boolean {
  return op === '=' ? actual === value : new RegExp(`^(?:${value})$`).test(actual)
}
