import { join } from 'node:path'
import { SERVICES, type ServiceName, variablePart } from '@restante/contracts/vocabulary'
import { databaseUrl } from './databases.ts'
import type { EngineUrls } from './engines/engines.ts'
import type { SecretOf } from './secrets.ts'
import { listenerOf, type Settings } from './settings.ts'

export interface Place {
  readonly settings: Settings
  readonly engines: EngineUrls
  readonly secretOf: SecretOf
}

/** The environment of one service of the local stack. This file is the only place that defines it. */
export function serviceEnvironment(service: string, place: Place): Record<string, string> {
  return { ...commonEnvironment(service, place), ...peerEnvironment(service, place), ...ownEnvironment(service, place) }
}

/** Domain of the inboxes here. RFC 2606 reserves `.test`, so mail to it never reaches a real host. */
export const defaultDomain = 'restante.test'

/** Mail to the operator leaves the installation, so it is among the captured mail. */
const operatorAddress = 'operator@example.test'

function commonEnvironment(service: string, { settings, engines, secretOf }: Place): Record<string, string> {
  const publicUrl = serviceUrl(settings, 'gateway')
  return {
    PORT: String(settings.port(listenerOf(service))),
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl(engines.DATABASE_URL, service),
    REDIS_URL: engines.REDIS_URL,
    KAFKA_BROKERS: engines.KAFKA_BROKERS,
    // One broker cannot hold more than one copy.
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    PUBLIC_URL: publicUrl,
    DOCS_URL: `${publicUrl}/docs`,
    DEFAULT_DOMAIN: defaultDomain,
    BLOB_STORE: `directory:${join(settings.state, 'blobs')}`,
    CURSOR_SECRET: secretOf(`cursor secret of ${service}`),
    ENCRYPTION_KEY: secretOf(`encryption key of ${service}`),
    // Local only: a developer's webhook receivers and attachment servers are on http and loopback.
    ALLOW_HTTP_URLS: 'true',
    ALLOW_LOOPBACK_URLS: 'true',
  }
}

/** URLs of the other services, the key of the gateway's tokens for each, and one key per pair of services. */
function peerEnvironment(service: string, { settings, secretOf }: Place): Record<string, string> {
  const peers = SERVICES.filter((peer) => peer !== service)
  const known =
    service === 'gateway'
      ? peers.map((peer) => [`CALLER_KEY_${variablePart(peer)}`, callerKey(peer)])
      : [['CALLER_KEY', callerKey(service)]]
  return Object.fromEntries([
    ...known,
    ...peers.flatMap((peer) => [
      [`${variablePart(peer)}_URL`, serviceUrl(settings, peer)],
      [`PEER_KEY_${variablePart(peer)}`, secretOf(`key of ${[service, peer].sort().join(' and ')}`)],
    ]),
  ])

  function callerKey(name: string): string {
    return secretOf(`caller key of ${name}`)
  }
}

function ownEnvironment(service: string, { settings, secretOf }: Place): Record<string, string> {
  switch (service) {
    case 'gateway':
      return {
        READY_INCLUDES_UPSTREAMS: 'true',
        // Everything here listens on loopback.
        INTERNAL_ON_PUBLIC_PORT: 'true',
        INSTALLATION_SECRET: secretOf('installation secret'),
        AUTH_BASE: `http://localhost:${settings.port('sign-in')}`,
        CAPTURED_MAIL_URL: `http://127.0.0.1:${settings.port('captured-web')}`,
        RATE_LIMIT_EXEMPT_LOOPBACK: 'true',
      }
    case 'mail-ingest':
      return {
        SMTP_HOST: '127.0.0.1',
        SMTP_PORT: String(settings.port('smtp')),
        SENDER_AUTH: 'trust-loopback',
        RATE_LIMIT_EXEMPT_LOOPBACK: 'true',
        // Locally every client has the loopback address.
        SMTP_PEER_CONNECTIONS: '500',
        LINK_SECRET: secretOf('link secret'),
        RETURN_PATH_SECRET: secretOf('return path secret'),
        OPERATOR_ADDRESS: operatorAddress,
      }
    case 'mail-send':
      return {
        SMARTHOST: `127.0.0.1:${settings.port('captured-smtp')}`,
        SMARTHOST_TLS: 'none',
        LINK_SECRET: secretOf('draft link secret'),
        RETURN_PATH_SECRET: secretOf('return path secret'),
        OPERATOR_ADDRESS: operatorAddress,
      }
    case 'domains-dns':
      return {
        MX_HOST: `mx.${defaultDomain}`,
        SPF_INCLUDE: `spf.${defaultDomain}`,
        TRACKING_HOST: `track.${defaultDomain}`,
        RETURN_PROBE: `127.0.0.1:${settings.port('smtp')}`,
        ALLOW_SPECIAL_USE_DOMAINS: 'true',
      }
    case 'apps-signin':
      return {
        AUTH_BASE: `http://localhost:${settings.port('sign-in')}`,
        AUTH_PORT: String(settings.port('sign-in')),
        SUBJECT_SECRET: secretOf('subject secret'),
        RATE_LIMIT_EXEMPT_LOOPBACK: 'true',
      }
    case 'mcp':
      return { API_URL: serviceUrl(settings, 'gateway') }
    case 'websocket-fanout':
      // No other instance would benefit from closing the streams slowly.
      return { STREAM_DRAIN: '1s' }
    default:
      return {}
  }
}

function serviceUrl(settings: Settings, service: ServiceName): string {
  return `http://127.0.0.1:${settings.port(service)}`
}
