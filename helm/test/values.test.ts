import { refusal, render } from './support/rendering.ts'

describe('the values', () => {
  it.each([
    ['a misspelled name', { smpt: {} }, "additional properties 'smpt' not allowed"],
    ['a misspelled name inside', { smtp: { service: { tpye: 'NodePort' } } }, "'tpye' not allowed"],
    ['an unknown variable', { settings: { PUBLIC_ULR: 'x' } }, "'PUBLIC_ULR' not allowed"],
    ['a secret among the settings', { settings: { CURSOR_SECRET: 'x' } }, "'CURSOR_SECRET' not allowed"],
    [
      'an address with a password among the settings',
      { settings: { REDIS_URL: 'redis://x' } },
      "'REDIS_URL' not allowed",
    ],
    [
      'headers of telemetry, which hold credentials',
      { settings: { OTEL_EXPORTER_OTLP_HEADERS: 'k=v' } },
      'OTLP_HEADERS',
    ],
    ['a variable that the chart computes', { settings: { GATEWAY_URL: 'http://x' } }, "'GATEWAY_URL' not allowed"],
    [
      'another address of the API than that of its gateway',
      { services: { mcp: { settings: { API_URL: 'http://x' } } } },
      "'API_URL' not allowed",
    ],
    [
      'a variable of another service',
      { services: { gateway: { settings: { SMARTHOST: 'x' } } } },
      "'SMARTHOST' not allowed",
    ],
    ['a setting for every service as a default', { defaults: { settings: { LOG_LEVEL: 'debug' } } }, 'maxProperties'],
    ['an unknown service', { services: { 'parcel-post': {} } }, "'parcel-post' not allowed"],
    ['a value that a variable cannot have', { settings: { LOG_LEVEL: 'loud' } }, '/settings/LOG_LEVEL'],
    ['a wrong type', { services: { gateway: { replicas: 'two' } } }, 'got string, want integer'],
    ['a digest that is none', { image: { digests: { gateway: 'latest' } } }, '/image/digests/gateway'],
  ])('refuse %s', async (_what, values, message) => {
    expect(await refusal({ values })).toContain(message)
  })

  it.each([
    [
      'settings that every installation needs',
      { settings: { PUBLIC_URL: '' } },
      'settings.PUBLIC_URL is missing. Base URL of',
    ],
    ['a place for mail', { blobs: { s3: { bucket: '' } } }, 'set blobs.s3.bucket, or blobs.existingClaim'],
    [
      'one place for mail, not two',
      { blobs: { existingClaim: 'x' } },
      'blobs.s3.bucket and blobs.existingClaim are both set',
    ],
    ['a selector for a key that signs', { dkim: { rsa: { secretName: 'x' } } }, 'dkim.rsa.selector is missing'],
    ['hosts for an Ingress', { ingress: { enabled: true } }, 'ingress.hosts is empty'],
    ['who signs certificates', { certificates: { enabled: true, api: { dnsNames: ['a.test'] } } }, 'issuerRef.name'],
    ['the cluster of topics', { strimzi: { topics: { enabled: true } } }, 'strimzi.cluster is missing'],
    [
      'topics beside users of Strimzi, whose passwords are made after the Job for topics would need one',
      { strimzi: { cluster: 'events', users: { enabled: true } } },
      'strimzi.users.enabled needs strimzi.topics.enabled',
    ],
  ])('have to name %s', async (_what, values, message) => {
    expect(await refusal({ values })).toContain(message)
  })

  it('are written into the environment as they are: large numbers, flags, and what only looks like a number', async () => {
    const settings = { INBOUND_NETWORK_BYTES: 20971520000, SIGN_UP: false, TOPIC_PREFIX: '007' }
    const manifests = await render({ values: { settings } })
    const data = (name: string) =>
      manifests.find((it) => it.kind === 'ConfigMap' && it.metadata.name === name)?.['data']
    expect(data('restante-mail-ingest')).toMatchObject({ INBOUND_NETWORK_BYTES: '20971520000', TOPIC_PREFIX: '007' })
    expect(data('restante-gateway')).toMatchObject({ SIGN_UP: 'false' })
  })
})
