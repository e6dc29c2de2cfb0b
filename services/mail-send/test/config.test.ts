import { ConfigurationError } from '@restante/service/configuration'
import { configuration } from '../src/config.ts'

const GIVEN = {
  DATABASE_URL: 'postgres://localhost/mail_send',
  CALLER_KEY: 'a caller key of the tests',
  BLOB_STORE: 'directory:/tmp/blobs',
  REDIS_URL: 'redis://localhost',
  DEFAULT_DOMAIN: 'Example.com',
  PUBLIC_URL: 'https://mail.example.com/',
  ENCRYPTION_KEY: 'a key of the tests',
  CURSOR_SECRET: 'the secret of the page tokens',
  LINK_SECRET: 'the secret of the download links',
  RETURN_PATH_SECRET: 'a secret of the tests',
  OPERATOR_ADDRESS: 'operator@company.example',
  GATEWAY_URL: 'http://gateway:3000',
  PEER_KEY_GATEWAY: 'a gateway key of the tests',
  MAIL_INGEST_URL: 'http://mail-ingest:3001',
  PEER_KEY_MAIL_INGEST: 'an ingest key of the tests',
  DOMAINS_DNS_URL: 'http://domains-dns:3006',
  PEER_KEY_DOMAINS_DNS: 'a domains key of the tests',
  CALENDAR_URL: 'http://calendar:3008',
  PEER_KEY_CALENDAR: 'a calendar key of the tests',
  METRICS_URL: 'http://metrics:3009',
  PEER_KEY_METRICS: 'a metrics key of the tests',
}

const configured = (changes: Readonly<Record<string, string>> = {}) => configuration.read({ ...GIVEN, ...changes })

describe('the configuration of mail-send', () => {
  it('requires little, and derives the rest from the domain', () => {
    expect(configured()).toMatchObject({
      defaultDomain: 'example.com',
      docsUrl: 'https://mail.example.com/docs',
      returnPath: { domain: 'bounces.example.com' },
      dkim: [],
      delivery: {
        ehloName: 'mail.example.com',
        smarthost: undefined,
        mxHosts: { port: 25, allowLocal: false },
        retry: { firstMs: 60_000, giveUpAfterMs: 72 * 3_600_000 },
      },
      attachmentTimeoutMs: 10_000,
      outbound: { allow: { http: false, loopback: false } },
    })
  })

  it.each([
    ['relay.example.com:587', { host: 'relay.example.com', port: 587 }],
    ['relay.example.com', { host: 'relay.example.com', port: 25 }],
    ['[::1]:1025', { host: '::1', port: 1025 }],
  ])('reads the smarthost %s', (text, smarthost) => {
    expect(configured({ SMARTHOST: text }).delivery.smarthost).toMatchObject(smarthost)
  })

  it.each([
    [{}, 'opportunistic'],
    [{ SMARTHOST_USER: 'me', SMARTHOST_PASSWORD: 'secret' }, 'required'],
    [{ SMARTHOST_USER: 'me', SMARTHOST_PASSWORD: 'secret', SMARTHOST_TLS: 'none' }, 'none'],
  ])('requires TLS for a login at the smarthost unless configured otherwise: %j', (given, tls) => {
    expect(configured({ SMARTHOST: 'relay.example.com', ...given }).delivery.smarthost?.tls).toBe(tls)
  })

  it.each([
    [{ SMARTHOST: 'host:99999' }, 'SMARTHOST must be host:port'],
    [{ DNS_SERVERS: 'dns.example.com' }, 'DNS_SERVERS must hold addresses'],
    [{ BLOB_STORE: 'somewhere' }, 'BLOB_STORE'],
    [{ DKIM_SELECTOR: 's1' }, 'DKIM_KEY_FILE is missing'],
    [{ DKIM_KEY_FILE: '/key.pem' }, 'DKIM_SELECTOR is missing'],
    [{ DKIM_ED25519_SELECTOR: 's2' }, 'DKIM_ED25519_KEY_FILE is missing'],
    [{ DKIM_ED25519_SELECTOR: 's2', DKIM_ED25519_KEY_FILE: '/key.pem' }, 'needs DKIM_SELECTOR as well'],
    [
      {
        DKIM_SELECTOR: 's1',
        DKIM_KEY_FILE: '/rsa.pem',
        DKIM_ED25519_SELECTOR: 'S1',
        DKIM_ED25519_KEY_FILE: '/ed25519.pem',
      },
      'must differ from DKIM_SELECTOR',
    ],
    [{ SMARTHOST_USER: 'me' }, 'SMARTHOST_PASSWORD is missing'],
    [{ RETRY_FIRST: 'soon' }, 'RETRY_FIRST must be a duration'],
  ])('refuses %j and names the variable', (changes, problem) => {
    expect(() => configured(changes)).toThrow(ConfigurationError)
    expect(() => configured(changes)).toThrow(problem)
  })

  it('names every wrong variable at once', () => {
    const { CALLER_KEY: _, ...rest } = GIVEN
    const wrong = { ...rest, MX_PORT: 'x', RETRY_FOR: 'long' }
    expect(() => configuration.read(wrong)).toThrow(/CALLER_KEY is missing.*MX_PORT.*RETRY_FOR/s)
  })
})
