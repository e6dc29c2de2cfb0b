import { callerEnvironment, commonConfiguration, commonEnvironment, env } from '@restante/service'
import type { z } from 'zod'

export const environment = commonEnvironment.extend({
  ...callerEnvironment.shape,
  PORT: env.port(3004).describe('HTTP port of this service, WebSocket upgrades included'),
  REDIS_URL: env.url().describe('Redis that counts open connections'),
  REDIS_PREFIX: env.string('restante').describe('In front of every key in Redis'),
  GATEWAY_URL: env.url().describe('Internal base URL of the gateway'),
  PEER_KEY_GATEWAY: env.secret().describe('Key shared with the gateway for calls between the two'),
  DOCS_URL: env.url().describe('Base of the links in errors'),
  STREAM_DRAIN: env.duration('20s').describe('Time over which open streams are closed on shutdown'),
})

type Environment = z.output<typeof environment>

/** The flat environment as the code uses it. Pure. */
export function configure(environment: Environment) {
  return {
    ...commonConfiguration(environment),
    callerKey: environment.CALLER_KEY,
    redis: { url: environment.REDIS_URL, prefix: environment.REDIS_PREFIX },
    gateway: { url: environment.GATEWAY_URL, key: environment.PEER_KEY_GATEWAY },
    docsUrl: environment.DOCS_URL,
    streamDrainMs: environment.STREAM_DRAIN,
  }
}
export type Config = ReturnType<typeof configure>
