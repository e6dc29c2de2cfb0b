import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { type Manifest, ofKind, one, render, root } from './support/rendering.ts'

const run = promisify(execFile)

const rule = z.looseObject({
  alert: z.string().optional(),
  expr: z.string(),
  annotations: z.record(z.string(), z.string()).optional(),
})
const groups = z.object({ groups: z.array(z.looseObject({ name: z.string(), rules: z.array(rule) })) })
const prometheusRule = z.looseObject({ spec: groups })
const monitor = z.object({
  spec: z.looseObject({
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    podMetricsEndpoints: z.array(
      z.looseObject({ port: z.string(), relabelings: z.array(z.looseObject({ targetLabel: z.string() })) }),
    ),
  }),
})

const observability = path.join(root, 'deploy/observability')

function rulesOf(manifests: readonly Manifest[]) {
  return [...ofKind(manifests, 'PrometheusRule').values()].flatMap((object) =>
    prometheusRule.parse(object).spec.groups.flatMap((group) => group.rules),
  )
}

const RULES = { rules: { enabled: true, labels: { release: 'prometheus' }, runbookBaseUrl: 'https://wiki.test/books' } }

describe('the PrometheusRules', () => {
  it('are the rules of deploy/observability, each alert with a link to its runbook', async () => {
    const manifests = await render({ values: { monitoring: RULES } })
    const expected: z.output<typeof rule>[] = []
    for (const file of await readdir(path.join(observability, 'alerts'))) {
      const text = await readFile(path.join(observability, 'alerts', file), 'utf8')
      expected.push(...groups.parse(parse(text)).groups.flatMap((group) => group.rules))
    }
    const found = rulesOf(manifests)
    const linked = expected.map((it) =>
      it.alert === undefined
        ? it
        : { ...it, annotations: { ...it.annotations, runbook_url: `https://wiki.test/books/${it.alert}.md` } },
    )
    const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
    const sorted = (rules: readonly object[]) =>
      rules.map((it) => parse(stringify(it, { sortMapEntries: true }))).toSorted(byText)
    expect(sorted(found)).toEqual(sorted(linked))
    expect(found.length).toBeGreaterThan(40)
  })

  it('are accepted by Prometheus as they are rendered', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'restante-rules-'))
    try {
      const manifests = await render({ values: { monitoring: RULES } })
      const files = await Promise.all(
        [...ofKind(manifests, 'PrometheusRule')].map(async ([name, object]) => {
          const file = path.join(folder, `${name}.yaml`)
          await writeFile(file, stringify(prometheusRule.parse(object).spec))
          return file
        }),
      )
      const { stdout } = await run('promtool', ['check', 'rules', ...files])
      expect(stdout.match(/SUCCESS/g)?.length).toBe(files.length)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('lack the alerts that are switched off', async () => {
    const disabled = ['RestanteServiceDown']
    const manifests = await render({ values: { monitoring: { rules: { ...RULES.rules, disabled } } } })
    const names = rulesOf(manifests).map(({ alert }) => alert)
    expect(names).not.toContain('RestanteServiceDown')
    expect(names).toContain('RestanteNotMonitored')
  })
})

describe('the dashboards', () => {
  it('are ConfigMaps that Grafana’s sidecar finds, byte for byte', async () => {
    const manifests = await render({ values: { monitoring: { dashboards: { enabled: true } } } })
    const files = (await readdir(path.join(observability, 'dashboards'))).filter((file) => file.endsWith('.json'))
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) {
      const name = `restante-dashboard-${file.replace(/\.json$/, '')}`
      const object = one(manifests, 'ConfigMap', name)
      expect(object.metadata.labels).toMatchObject({ grafana_dashboard: '1' })
      const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(object)
      expect(data[file]).toBe((await readFile(path.join(observability, 'dashboards', file), 'utf8')).trim())
    }
  })
})

describe('the PodMonitor', () => {
  it('scrapes the metrics of every pod, with the labels that alerts and dashboards use', async () => {
    const manifests = await render({ values: { monitoring: { podMonitor: { enabled: true } } } })
    const { spec } = monitor.parse(one(manifests, 'PodMonitor', 'restante-services'))
    expect(spec.selector.matchLabels).toEqual({
      'app.kubernetes.io/name': 'restante',
      'app.kubernetes.io/instance': 'restante',
    })
    const [endpoint] = spec.podMetricsEndpoints
    expect(endpoint?.port).toBe('metrics')
    expect(endpoint?.relabelings.map(({ targetLabel }) => targetLabel)).toEqual(['job', 'service', 'workload'])
  })
})
