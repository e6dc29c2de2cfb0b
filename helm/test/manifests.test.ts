import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import { readDefinitions } from './support/definitions.ts'
import { chart, examples, type Manifest, render } from './support/rendering.ts'

const run = promisify(execFile)
const LARGE = { maxBuffer: 64 * 1024 * 1024 }

/** API groups of Kubernetes itself, whose schemas kubernetes-validate brings. */
const OWN = /^(v1|apps\/v1|batch\/v1|policy\/v1|autoscaling\/v2|networking\.k8s\.io\/v1)$/

/** Values that switch everything on at once. */
const EVERYTHING = {
  tracking: { enabled: true },
  monitoring: { serviceMonitor: { enabled: true } },
  gatewayApi: {
    enabled: true,
    parentRefs: [{ name: 'public' }],
    hostnames: ['api.example.com'],
    tracking: { enabled: true, httpsParentRefs: [{ name: 'public' }], httpParentRefs: [{ name: 'public' }] },
  },
  services: { 'mail-ingest': { rolesApart: true } },
}

describe('the chart', () => {
  let folder: string
  const renderings = new Map<string, Manifest[]>()
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'restante-manifests-'))
    for (const example of await examples()) renderings.set(example, await render({ example }))
    renderings.set('everything', await render({ example: 'production', values: EVERYTHING }))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('has no faults that Helm finds, with the values of every example', async () => {
    for (const example of await examples()) {
      const values = path.join(chart, 'examples', `${example}.yaml`)
      const { stdout } = await run('helm', ['lint', '--strict', chart, '--values', values])
      expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed')
    }
  })

  it.each(['1.34', '1.35', '1.36'])(
    'makes objects that Kubernetes %s knows, without an unknown field',
    async (version) => {
      const files: string[] = []
      for (const [name, manifests] of renderings) {
        const own = manifests.filter(({ apiVersion }) => OWN.test(apiVersion))
        const file = path.join(folder, `${version}-${name}.yaml`)
        await writeFile(file, own.map((object) => stringify(object)).join('---\n'))
        files.push(file)
      }
      const { stdout } = await run('kubernetes-validate', ['--strict', '-k', version, ...files], LARGE)
      const passed = stdout.split('\n').filter((line) => line.includes(' passed '))
      expect(passed.length).toBeGreaterThan(250)
    },
  )

  it('makes objects that the Gateway API, cert-manager, the Prometheus Operator and Strimzi know', async () => {
    const definitions = await readDefinitions()
    const kinds = new Set<string>()
    for (const [name, manifests] of renderings) {
      for (const object of manifests.filter(({ apiVersion }) => !OWN.test(apiVersion))) {
        kinds.add(object.kind)
        expect([name, object.kind, object.metadata.name, definitions.problemsOf(object)]).toEqual([
          name,
          object.kind,
          object.metadata.name,
          [],
        ])
      }
    }
    const wrong = {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      metadata: { name: 'x', labels: {}, annotations: {} },
    }
    expect(definitions.problemsOf({ ...wrong, spec: { dnsNmaes: [] } }).join()).toContain('dnsNmaes')
    expect([...kinds].toSorted()).toEqual([
      'Certificate',
      'HTTPRoute',
      'KafkaTopic',
      'KafkaUser',
      'PodMonitor',
      'PrometheusRule',
      'ServiceMonitor',
      'TCPRoute',
    ])
  })

  it('makes no object twice', async () => {
    for (const manifests of renderings.values()) {
      const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    }
  })

  it('has a template file for each kind of thing, and no service by name but those that differ', async () => {
    const templates = path.join(chart, 'templates')
    for (const name of await readdir(templates)) {
      const text = await readFile(path.join(templates, name), 'utf8')
      // gateway, mail-ingest, mail-send and domains-dns have ports or files of their own; the others are like any.
      if (name !== 'NOTES.txt') expect(text).not.toMatch(/webhooks-dispatcher|websocket-fanout/)
    }
    expect((await render()).length).toBeGreaterThan(40)
  })
})
