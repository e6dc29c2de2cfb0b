/**
 * Draws what a running system shows: the overview with the values of a real Prometheus, and the trace of one mail
 * (`npm run observe`). Conversations go on for a minute and a half. Every query of every dashboard is run, and those
 * without data are printed.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startObserved } from '@restante/test-e2e/observability/observed-system.ts'
import { OtlpReceiver } from '@restante/test-e2e/observability/otlp-receiver.ts'
import { linkedTo, traceOfMail } from '@restante/test-e2e/observability/trace-of-mail.ts'
import { type Dashboard, type Panel, readDashboards, shown } from '../test/dashboards.ts'
import { filledIn } from '../test/promql.ts'
import { drawDashboard } from './draw-dashboard.ts'
import { drawTrace } from './draw-trace.ts'
import { type Line, Prometheus } from './prometheus.ts'

const images = path.resolve(import.meta.dirname, '../../../docs/images')
const OBSERVED_MS = 90_000
/** With a scrape every 2 s, five values. */
const RATE = '10s'

const folder = await mkdtemp(path.join(tmpdir(), 'restante-observe-'))
const receiver = await new OtlpReceiver().start()
const observed = await startObserved(folder, receiver.environment)
const prometheus = await Prometheus.start(observed.targets, folder)
try {
  const begin = Date.now()
  while (Date.now() - begin < OBSERVED_MS) await observed.converse()
  const dashboards = await readDashboards()
  const answered = await Promise.all(dashboards.map((each) => ask(each, begin / 1_000, Date.now() / 1_000)))
  report(dashboards, answered)
  const overview = dashboards.findIndex(({ uid }) => uid === 'restante-overview')
  const [dashboard, answers] = [dashboards[overview], answered[overview]]
  if (!dashboard || !answers) throw new Error('there is no overview')
  await writeFile(path.join(images, 'overview.svg'), drawDashboard('Dashboard: is mail flowing?', dashboard, answers))
  // The last one: the first mail of a process waits for modules to load.
  const trace = traceOfMail(receiver.spans.toReversed())
  if (!trace) throw new Error('no mail has a whole trace')
  await writeFile(path.join(images, 'trace.svg'), drawTrace(trace, linkedTo(trace, receiver.spans)))
} finally {
  await prometheus.stop()
  await observed.stop()
  await receiver.stop()
  await rm(folder, { recursive: true, force: true })
}

async function ask(dashboard: Dashboard, begin: number, end: number): Promise<Map<Panel, Line[][]>> {
  const panels = shown(dashboard).map(async (panel) => {
    const queries = panel.targets.map(({ expr }) => filledIn(expr.replaceAll('$__rate_interval', RATE)))
    return [panel, await Promise.all(queries.map((query) => prometheus.range(query, begin, end)))] as const
  })
  return new Map(await Promise.all(panels))
}

function report(dashboards: readonly Dashboard[], answered: readonly ReadonlyMap<Panel, Line[][]>[]): void {
  const empty = dashboards.flatMap(({ title }, index) =>
    [...(answered[index] ?? [])].flatMap(([panel, answers]) =>
      answers.flatMap((lines, query) => (lines.length === 0 ? [`${title}: ${panel.title} (query ${query + 1})`] : [])),
    ),
  )
  const queries = answered.flatMap((each) => [...each.values()]).flat().length
  process.stdout.write(
    `${queries} queries, ${empty.length} without data\n${empty.map((line) => `  ${line}\n`).join('')}`,
  )
}
