import { internalOperations } from '@restante/contracts/internal'
import { MCP_ENDPOINT, operations } from '@restante/contracts/operations'
import { SERVICES, type ServiceName, UPSTREAMS } from '@restante/contracts/vocabulary'
import { allowed, policies, portOf } from './support/connections.ts'
import { examples, type Manifest, ofKind, render } from './support/rendering.ts'
import { podsOf, workloads } from './support/workloads.ts'

const PUBLIC = ['0.0.0.0/0', '::/0'].join(' ')

const FORWARDED = [...Object.values(operations), MCP_ENDPOINT]

/** The port at which other services reach a service. */
const portFor = (service: ServiceName) => (service === 'gateway' ? 3100 : 3000 + SERVICES.indexOf(service))

/** Calls between services by the contracts, in the words of `allowed`: the second source beside services.json. */
function callsOf(caller: ServiceName): string[] {
  const called = Object.values(internalOperations).flatMap(({ service, callers }) =>
    callers.some((other) => other === caller) ? [service] : [],
  )
  const proxied =
    caller === 'gateway' ? UPSTREAMS.filter((name) => FORWARDED.some(({ service }) => service === name)) : []
  return [...new Set([...called, ...proxied])].map((service) => `${service}:${portFor(service)}`).toSorted()
}

describe('the NetworkPolicies', () => {
  let minimal: Manifest[]
  beforeAll(async () => {
    minimal = await render()
  })

  it('deny everything to every pod of the release, and name each component', () => {
    const all = policies(minimal).find(({ spec }) => !('app.kubernetes.io/component' in spec.podSelector.matchLabels))
    expect(all?.spec).toEqual({
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'restante', 'app.kubernetes.io/instance': 'restante' } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [],
    })
    const components = workloads(minimal).map((object) => podsOf(object).metadata.labels['app.kubernetes.io/component'])
    expect(new Set(allowed(minimal, 'egress').keys())).toEqual(new Set(components))
  })

  it('let each service call those that the contracts say, and nobody else', () => {
    const egress = allowed(minimal, 'egress')
    for (const service of SERVICES) {
      const asClient = service === 'mcp' ? ['gateway:3000'] : []
      expect([service, egress.get(service)?.pods]).toEqual([service, [...asClient, ...callsOf(service)]])
    }
    for (const job of ['migrations', 'topics']) expect(egress.get(job)?.pods).toEqual([])
  })

  it('let each service be called by those that it lets call, at the same port', () => {
    const ingress = allowed(minimal, 'ingress')
    for (const service of SERVICES) {
      const callers = SERVICES.filter((other) => callsOf(other).includes(`${service}:${portFor(service)}`))
      const name = service === 'gateway' ? 'internal' : 'http'
      const clients = service === 'gateway' ? ['mcp:http'] : []
      const expected = [...callers.map((caller) => `${caller}:${name}`), ...clients]
      expect([service, ingress.get(service)?.pods]).toEqual([service, expected.toSorted()])
      expect(portOf(minimal, service, name)).toBe(portFor(service))
    }
  })

  it('let mcp reach nothing but the gateway, and only the gateway reach mcp', async () => {
    const values = { settings: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' } }
    const manifests = await render({ values })
    const [ingress, egress] = [allowed(manifests, 'ingress').get('mcp'), allowed(manifests, 'egress').get('mcp')]
    expect(ingress?.pods).toEqual(['gateway:http'])
    expect(egress?.pods).toEqual(['gateway:3000', 'gateway:3100'])
    const rest = egress?.others.filter((rule) => !/^(UDP )?53 /.test(rule))
    expect(rest).toEqual(['4317', '4318'])
    expect(portOf(manifests, 'gateway', 'http')).toBe(3000)
  })

  it('open SMTP to everyone, the API to the ingress controller, metrics to monitoring, and no other port', () => {
    const at = (namespace: string) => `{"matchLabels":{"kubernetes.io/metadata.name":"${namespace}"}}`
    const metrics = `metrics ${at('monitoring')}`
    const ingress = allowed(minimal, 'ingress')
    expect(ingress.get('gateway')?.others).toEqual([`http ${at('ingress-nginx')}`, metrics])
    expect(ingress.get('mail-ingest')?.others).toEqual([metrics, 'smtp'])
    for (const service of ['mail-send', 'webhooks-dispatcher', 'websocket-fanout', 'domains-dns', 'mcp'])
      expect(ingress.get(service)?.others).toEqual([metrics])
  })

  it('let out engines and DNS, and to the internet only mail, webhooks and what belongs to domains', () => {
    const egress = allowed(minimal, 'egress')
    const without = (service: string) => egress.get(service)?.others.filter((rule) => !/^(UDP )?53 /.test(rule)) ?? []
    const engines = ['5432', '6379', '9092', '9093', '9094']
    expect(without('gateway')).toEqual(engines)
    expect(without('websocket-fanout')).toEqual(engines)
    expect(without('mail-ingest')).toEqual([...engines.slice(0, 2), '9000', ...engines.slice(2)])
    expect(without('mail-send')).toEqual([
      `25 ${PUBLIC}`,
      `443 ${PUBLIC}`,
      '5432',
      '6379',
      '9000',
      '9092',
      '9093',
      '9094',
    ])
    expect(without('webhooks-dispatcher')).toEqual([`443 ${PUBLIC}`, ...engines])
    expect(without('domains-dns')).toEqual([`25 ${PUBLIC}`, `443 ${PUBLIC}`, ...engines])
    expect(without('migrations')).toEqual(['5432'])
    expect(without('topics')).toEqual(['9092', '9093', '9094'])
  })

  it('open what settings name: smarthosts, scanners, name servers, traces, unencrypted URLs', async () => {
    const settings = {
      SMARTHOST: 'relay.test:587',
      CLAMD_URL: 'tcp://clamd:3310',
      RSPAMD_URL: 'http://rspamd:11333',
      DNS_SERVERS: '10.0.0.2,10.0.0.3:54,[fd00::2]:5353,fd00::3',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      ALLOW_HTTP_URLS: true,
    }
    const egress = allowed(await render({ values: { settings } }), 'egress')
    const send = egress.get('mail-send')?.others
    expect(send).toEqual(expect.arrayContaining(['587', '3310', '4318', `80 ${PUBLIC}`]))
    expect(send).toEqual(
      expect.arrayContaining(['UDP 53 10.0.0.2/32', '54 10.0.0.3/32', 'UDP 5353 fd00::2/128', '53 fd00::3/128']),
    )
    expect(egress.get('mail-ingest')?.others).toEqual(expect.arrayContaining(['3310', '11333', '4318']))
    expect(egress.get('gateway')?.others).not.toContain('3310')
  })

  it('narrow every engine to the places that are named', async () => {
    const egress = allowed(await render({ example: 'production' }), 'egress')
    const others = [...egress.values()].flatMap((own) => own.others)
    expect(others).toContain('5432 10.20.0.0/24')
    expect(others).toContain('6380 10.20.1.0/24')
    expect(others.filter((rule) => /^(5432|6379|6380|9093)$/.test(rule))).toEqual([])
  })

  it('follow the roles of mail-ingest: SMTP to one, calls to another', async () => {
    const manifests = await render({ example: 'roles-apart' })
    const [ingress, egress] = [allowed(manifests, 'ingress'), allowed(manifests, 'egress')]
    expect(ingress.get('mail-ingest-smtp')?.pods).toEqual([])
    expect(ingress.get('mail-ingest-smtp')?.others).toContain('smtp')
    expect(ingress.get('mail-ingest-api')?.others).not.toContain('smtp')
    expect(ingress.get('mail-ingest-api')?.pods).toContain('gateway:http')
    expect(egress.get('gateway')?.pods).toContain('mail-ingest-api:3001')
    expect(egress.get('mail-ingest-smtp')?.others).not.toContain('3310')
    expect(egress.get('mail-ingest-pipeline')?.others).toContain('3310')
    expect(ingress.get('gateway')?.pods).toEqual(
      expect.arrayContaining([
        'mail-ingest-api:internal',
        'mail-ingest-pipeline:internal',
        'mail-ingest-smtp:internal',
      ]),
    )
  })

  it('are left out where they are switched off', async () => {
    const manifests = await render({ values: { networkPolicy: { enabled: false } } })
    expect(ofKind(manifests, 'NetworkPolicy').size).toBe(0)
    expect(await examples()).toContain('minimal')
  })
})
