import { callerEnvironment, commonConfiguration, commonEnvironment, env } from '@restante/service'
import type { z } from 'zod'

export const environment = commonEnvironment.extend({
  ...callerEnvironment.shape,
  PORT: env.port(3003).describe('HTTP port of this service'),
  REDIS_URL: env.url().describe('Redis of the delivery queue (noeviction)'),
  REDIS_PREFIX: env.string('restante').describe('In front of every key in Redis'),
  GATEWAY_URL: env.url().describe('Internal base URL of the gateway'),
  PEER_KEY_GATEWAY: env.secret().describe('Key shared with the gateway for calls between the two'),
  CURSOR_SECRET: env.secret().describe('Seals page tokens; the same for all replicas'),
  ENCRYPTION_KEY: env.secret().describe('Seals signing secrets and custom headers in the database'),
  DOCS_URL: env.url().describe('Base of the links in errors'),
  ALLOW_HTTP_URLS: env.flag(false).describe('Admit webhook URLs without TLS; for local runs'),
  ALLOW_LOOPBACK_URLS: env.flag(false).describe('Admit webhook URLs on loopback addresses; for local runs'),
  DELIVERY_CONCURRENCY: env.integer(50, 1_000).describe('Webhook requests in flight in one process'),
  VERSION: env.string('0.1.0').describe('Shown in User-Agent'),
})

type Environment = z.output<typeof environment>

/** The flat environment as the code uses it. Pure. */
export function configure(environment: Environment) {
  return {
    ...commonConfiguration(environment),
    callerKey: environment.CALLER_KEY,
    redis: { url: environment.REDIS_URL, prefix: `${environment.REDIS_PREFIX}:webhooks` },
    gateway: { url: environment.GATEWAY_URL, key: environment.PEER_KEY_GATEWAY },
    cursorSecret: environment.CURSOR_SECRET,
    encryptionKey: environment.ENCRYPTION_KEY,
    docsUrl: environment.DOCS_URL,
    outbound: {
      version: environment.VERSION,
      allow: { http: environment.ALLOW_HTTP_URLS, loopback: environment.ALLOW_LOOPBACK_URLS },
    },
    deliveryConcurrency: environment.DELIVERY_CONCURRENCY,
  }
}
export type Config = ReturnType<typeof configure>
