/**
 * Writes docs/metrics.md from the metrics that each service declares; with `--check` it only reports whether the
 * document is up to date. Every service is loaded in a process of its own, because a process has one registry.
 */
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { type DeclaredMetric, declaredMetric } from '@restante/service/telemetry'
import { z } from 'zod'
import { writeOrCheck } from './write-or-check.ts'

const root = path.resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const MEGABYTE = 1024 * 1024

async function metricsOf(service: string): Promise<DeclaredMetric[]> {
  const program = path.join(import.meta.dirname, 'declared-metrics.ts')
  const { stdout } = await run(process.execPath, [program, service], { maxBuffer: 10 * MEGABYTE })
  return z.array(declaredMetric).parse(JSON.parse(stdout))
}

interface Found {
  readonly metric: DeclaredMetric
  readonly services: readonly string[]
}

function table(found: readonly Found[], isShared = false): string {
  const head = isShared
    ? ['| Metric | Type | Labels | Meaning | Services |', '|---|---|---|---|---|']
    : ['| Metric | Type | Labels | Meaning |', '|---|---|---|---|']
  const rows = found.map(({ metric: { name, type, labelNames, help }, services }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(', ')
    const meaning = help.replaceAll('|', '\\|').replace(/\.$/, '')
    return `| \`${name}\` | ${type} | ${labels} | ${meaning} |${isShared ? ` ${services.join(', ')} |` : ''}`
  })
  return [...head, ...rows].join('\n')
}

async function document(): Promise<string> {
  const services = (await readdir(path.join(root, 'services'))).sort()
  const all = await Promise.all(services.map(metricsOf))
  const byName = Map.groupBy(
    services.flatMap((service, index) => (all[index] ?? []).map((metric) => ({ service, metric }))),
    ({ metric }) => metric.name,
  )
  const found = [...byName.values()]
    .flatMap(([first, ...others]) =>
      first ? [{ metric: first.metric, services: [first, ...others].map(({ service }) => service) }] : [],
    )
    .sort((a, b) => (a.metric.name < b.metric.name ? -1 : 1))
  const everywhere = found.filter((each) => each.services.length === services.length)
  const several = found.filter((each) => each.services.length > 1 && each.services.length < services.length)
  const own = services.map((service) => {
    const metrics = found.filter((each) => each.services.length === 1 && each.services[0] === service)
    return metrics.length === 0 ? [] : [`## ${service}\n\n${table(metrics)}`]
  })
  const isOurs = ({ metric }: Found) => metric.name.startsWith('restante_')
  return `${[
    '# Metrics',
    'Each process serves these metrics on `METRICS_PORT`, at `/metrics`, in the format of Prometheus. Targets have the labels `job="restante"`, `namespace`, `service` and `instance`; the chart sets them. A histogram has the series `_bucket`, `_sum` and `_count`. Counters whose label values are known begin at 0. Gauges that are read from a database (queues, backlogs, dead letters, certificates) are the same in every process of a service: take their maximum, not their sum. [Dashboards](../deploy/observability/README.md) show them, and [alerts](../deploy/observability/alerts) watch them. This page is generated from the code by `npm run generate:docs`.',
    `## Every service\n\n${table(everywhere.filter(isOurs))}`,
    `## Several services\n\n${table(several, true)}`,
    ...own.flat(),
    `## Node and the process\n\n${table(everywhere.filter((each) => !isOurs(each)))}`,
  ].join('\n\n')}\n`
}

await writeOrCheck(path.join(root, 'docs/metrics.md'), await document())
