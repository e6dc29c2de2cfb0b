import { totalmem } from 'node:os'
import { performance } from 'node:perf_hooks'
import { Counter, collectDefaultMetrics, Gauge, register } from 'prom-client'
import { z } from 'zod'

/** A service as its metrics describe it. */
export interface ReportedService {
  readonly version: string
  /** Components that make it unready, and those whose background work is stopped, with the reasons. */
  readonly health: {
    problems(): Promise<Record<string, string>>
    degradations(): Promise<Record<string, string>>
  }
}

const reported = new Set<ReportedService>()

/** Names of components in the answers of all services of this process. */
async function allOf(ask: (health: ReportedService['health']) => Promise<Record<string, string>>): Promise<string[]> {
  const answers = await Promise.all(Array.from(reported, ({ health }) => ask(health)))
  return answers.flatMap((answer) => Object.keys(answer))
}

let asked: Promise<string[]> | undefined

/** What makes the services unready, asked once for the gauges of a scrape, which begin together: it asks every engine. */
function problems(): Promise<string[]> {
  asked ??= allOf((health) => health.problems()).finally(() => {
    asked = undefined
  })
  return asked
}

function showComponents(gauge: Gauge<'component'>, components: readonly string[]): void {
  gauge.reset()
  if (components.length === 0) gauge.set({ component: 'none' }, 0)
  for (const component of components) gauge.set({ component }, 1)
}

new Gauge({
  name: 'restante_build_info',
  help: '1; the label is the version of the service',
  labelNames: ['version'],
  collect() {
    this.reset()
    for (const { version } of reported) this.set({ version }, 1)
  },
})
new Gauge({
  name: 'restante_ready',
  help: '1 while /readyz answers 200, otherwise 0',
  async collect() {
    this.set((await problems()).length === 0 ? 1 : 0)
  },
})
new Gauge({
  name: 'restante_unready',
  help: 'Components because of which /readyz answers 503; 0 for `none` when there is none',
  labelNames: ['component'],
  async collect() {
    showComponents(this, await problems())
  },
})
new Gauge({
  name: 'restante_degraded',
  help: 'Components whose background work is stopped although requests are served, as /readyz names them; 0 for `none` when all work',
  labelNames: ['component'],
  async collect() {
    showComponents(this, await allOf((health) => health.degradations()))
  },
})
new Gauge({
  name: 'restante_memory_limit_bytes',
  help: 'Memory that the process may use: the limit of its container, otherwise the memory of the machine',
  collect() {
    const limit = process.constrainedMemory()
    this.set(limit > 0 ? Math.min(limit, totalmem()) : totalmem())
  },
})
new Counter({
  name: 'restante_event_loop_busy_seconds_total',
  help: 'Time in which the event loop was not waiting: its rate is the utilization of the one thread that serves requests',
  collect() {
    this.reset()
    this.inc(performance.eventLoopUtilization().active / 1_000)
  },
})

let isCollecting = false

/**
 * Collects the metrics of Node and of the process (`nodejs_*`, `process_*`) from now on. They cost timers and observers,
 * so they are collected only where somebody reads them.
 */
export function collectProcessMetrics(): void {
  if (isCollecting) return
  isCollecting = true
  collectDefaultMetrics()
}

/** Includes a service in the metrics of its process until the returned function is called. */
export function reportService(service: ReportedService): () => void {
  collectProcessMetrics()
  reported.add(service)
  return () => reported.delete(service)
}

/** A metric as it is declared. */
export const declaredMetric = z.object({
  name: z.string(),
  help: z.string(),
  type: z.string(),
  labelNames: z.array(z.string()),
})
export type DeclaredMetric = z.infer<typeof declaredMetric>

/** The metrics that the modules of this process have declared, in alphabetical order. */
export function declaredMetrics(): DeclaredMetric[] {
  collectProcessMetrics()
  const metrics = register.getMetricsAsArray().map((metric) => declaredMetric.parse({ ...metric }))
  return metrics.sort((a, b) => (a.name < b.name ? -1 : 1))
}
