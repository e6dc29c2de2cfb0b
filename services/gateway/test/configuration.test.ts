import { UPSTREAMS, variablePart } from '@restante/contracts/vocabulary'
import { ConfigurationError } from '@restante/service/configuration'
import { configuration } from '../src/config.ts'

const SECRET = 'a secret of at least 16 characters'
const REQUIRED = {
  PORT: '3000',
  HOST: '192.0.2.1',
  DATABASE_URL: 'postgres://gateway@127.0.0.1/gateway',
  REDIS_URL: 'redis://127.0.0.1',
  PUBLIC_URL: 'https://api.restante.test',
  DOCS_URL: 'https://api.restante.test/docs',
  INSTALLATION_SECRET: SECRET,
  CURSOR_SECRET: SECRET,
  DEFAULT_DOMAIN: 'restante.test',
  ...Object.fromEntries(
    UPSTREAMS.map(variablePart).flatMap((name) => [
      [`${name}_URL`, 'http://127.0.0.1:1'],
      [`CALLER_KEY_${name}`, SECRET],
      [`PEER_KEY_${name}`, SECRET],
    ]),
  ),
}

function configured(more: Record<string, string>) {
  return configuration.read({ ...REQUIRED, ...more })
}

describe('the internal port', () => {
  it('is required: without it the gateway does not start, and names the variable', () => {
    expect(() => configured({})).toThrow(ConfigurationError)
    expect(() => configured({})).toThrow(/INTERNAL_PORT is missing.*GATEWAY_URL.*INTERNAL_ON_PUBLIC_PORT=true/)
  })

  it('can be the public port only when a local run sets the flag', () => {
    expect(configured({ INTERNAL_ON_PUBLIC_PORT: 'true' }).internal).toBeUndefined()
    expect(() => configured({ INTERNAL_ON_PUBLIC_PORT: 'true', INTERNAL_PORT: '3010' })).toThrow('INTERNAL_PORT')
    expect(() => configured({ INTERNAL_PORT: '3000' })).toThrow('must differ from PORT')
  })

  it('listens on INTERNAL_HOST, or on the host of the public port', () => {
    expect(configured({ INTERNAL_PORT: '3010' }).internal).toEqual({ port: 3010, host: '192.0.2.1' })
    const inside = { INTERNAL_PORT: '3010', INTERNAL_HOST: '10.0.0.1' }
    expect(configured(inside).internal).toEqual({ port: 3010, host: '10.0.0.1' })
  })
})

describe('the port of metrics', () => {
  it('is off unless it is set, and listens on METRICS_HOST', () => {
    const local = { INTERNAL_ON_PUBLIC_PORT: 'true' }
    expect(configured(local).metrics).toBeUndefined()
    expect(configured({ ...local, METRICS_PORT: '9100' }).metrics).toEqual({ port: 9100, host: '192.0.2.1' })
    const inside = { ...local, METRICS_PORT: '9100', METRICS_HOST: '10.0.0.1' }
    expect(configured(inside).metrics).toEqual({ port: 9100, host: '10.0.0.1' })
  })
})

describe('connections of one client', () => {
  it('are limited by default, so that one address cannot take all of them', () => {
    const { limits } = configured({ INTERNAL_PORT: '3010' }).http
    expect(limits.peerConnections).toBeLessThanOrEqual(limits.connections / 5)
  })
})
