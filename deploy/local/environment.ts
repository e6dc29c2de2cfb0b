import { join } from 'node:path'
import { databaseUrl } from './databases.ts'
import type { EngineUrls } from './engines/engines.ts'
import type { SecretOf } from './secrets.ts'
import { isListener, type Settings } from './settings.ts'

export interface Place {
  readonly settings: Settings
  readonly engines: EngineUrls
  readonly secretOf: SecretOf
}

/** The environment of one service of the local stack. This file is the one place where it is written down. */
export function serviceEnvironment(service: string, place: Place): Record<string, string> {
  return { ...commonEnvironment(service, place), ...ownEnvironment(service, place) }
}

function commonEnvironment(service: string, { settings, engines, secretOf }: Place): Record<string, string> {
  if (!isListener(service)) throw new Error(`${service} has no port in settings.ts`)
  return {
    PORT: String(settings.port(service)),
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl(engines.DATABASE_URL, service),
    REDIS_URL: engines.REDIS_URL,
    KAFKA_BROKERS: engines.KAFKA_BROKERS,
    // One broker cannot hold more than one copy.
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    CALLER_KEY: secretOf(`caller key of ${service}`),
  }
}

function ownEnvironment(service: string, { settings }: Place): Record<string, string> {
  switch (service) {
    case 'gateway':
      return { READY_INCLUDES_UPSTREAMS: 'true' }
    case 'mail-ingest':
      return {
        SMTP_PORT: String(settings.port('smtp')),
        BLOB_DIRECTORY: join(settings.state, 'blobs'),
        SENDER_AUTH: 'trust-loopback',
      }
    case 'mail-send':
      return {
        SMARTHOST: `127.0.0.1:${settings.port('captured-smtp')}`,
        BLOB_DIRECTORY: join(settings.state, 'blobs'),
      }
    default:
      return {}
  }
}
