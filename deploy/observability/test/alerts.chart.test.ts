import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Alert, readAlerts, readUnitTests, repository, ruleFiles, type UnitTest, unitTestFiles } from './rules.ts'

const run = promisify(execFile)

/** A summary fits into the subject of a notification. */
const SUMMARY_LENGTH = 140

/** What the unit tests of an alert expect of it. */
function expectations(tests: readonly UnitTest[], name: string) {
  return tests
    .flatMap((test) => test.promql_expr_test)
    .filter(({ expr }) => expr.startsWith(`ALERTS{alertname="${name}"`))
    .map(({ exp_samples }) => exp_samples.map(({ labels = '' }) => labels))
}

function severityIn(labels: string): string | undefined {
  return /severity="(\w+)"/.exec(labels)?.[1]
}

describe('the alerts', () => {
  let alerts: readonly Alert[]
  let tests: readonly UnitTest[]
  beforeAll(async () => {
    ;[alerts, tests] = await Promise.all([readAlerts(), readUnitTests()])
  })

  it('are rules that promtool accepts', async () => {
    const { stdout } = await run('promtool', ['check', 'rules', ...(await ruleFiles())])
    expect(stdout).not.toContain('FAILED')
  })

  it('fire for the series of their unit tests, and for no near miss', async () => {
    await Promise.all((await unitTestFiles()).map((file) => run('promtool', ['test', 'rules', file])))
  })

  it('have each a unit test in which they fire, for each severity, and one in which they do not', () => {
    const untested = alerts.filter(({ alert, labels }) => {
      const expected = expectations(tests, alert)
      const fires = expected.some((samples) => samples.some((sample) => severityIn(sample) === labels.severity))
      return !fires || !expected.some((samples) => samples.length === 0)
    })
    expect(untested.map(({ alert, labels }) => `${alert} (${labels.severity})`)).toEqual([])
  })

  it('name only labels that they have when they fire', () => {
    const wrong = alerts.flatMap(({ alert, annotations }) => {
      // `workload` exists in the cluster alone, and stands before a label that exists everywhere.
      const text = Object.values(annotations).join(' ').replaceAll('or $labels.workload ', '')
      const named = [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
      const fired = expectations(tests, alert).flat()
      return named
        .filter((label) => !fired.every((sample) => sample.includes(`${label}="`)))
        .map((label) => `${alert}: ${label}`)
    })
    expect(wrong).toEqual([])
  })

  it('meet no label of the chart’s targets that is one of a metric, which Prometheus would rename', async () => {
    const chart = await readFile(path.join(repository, 'helm/restante/templates/_names.tpl'), 'utf8')
    const ofTargets = [...chart.matchAll(/targetLabel: (\w+)/g)].map(([, label = '']) => label)
    const metrics = await readFile(path.join(repository, 'docs/metrics.md'), 'utf8')
    const ofMetrics = new Set([...metrics.matchAll(/`(\w+)`/g)].map(([, label = '']) => label))
    expect(ofTargets).toContain('service')
    expect(metrics).toContain('| `restante_unready` | gauge | `component` |')
    expect(
      ofTargets.filter((label) => ofMetrics.has(label) && !['job', 'service', 'namespace'].includes(label)),
    ).toEqual([])
  })

  it('have names that begin with Restante, and summaries that fit into a subject', () => {
    expect(alerts.filter(({ alert }) => !/^Restante[A-Z][A-Za-z]+$/.test(alert))).toEqual([])
    expect(alerts.filter(({ annotations }) => annotations.summary.length > SUMMARY_LENGTH)).toEqual([])
  })
})
