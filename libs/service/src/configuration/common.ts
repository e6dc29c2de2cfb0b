import { displayName, USERNAME } from '@restante/contracts'
import { z } from 'zod'
import type { MetricsAddress } from '../http/metrics-listener.ts'
import { env } from './environment.ts'

/** Variables that every service reads. */
export const commonEnvironment = z.object({
  PORT: env.port().describe('HTTP port of this service'),
  HOST: env.string('0.0.0.0').describe('Address the HTTP server listens on'),
  METRICS_PORT: env
    .port()
    .optional()
    .describe('Port of /metrics, and of /readyz with its reasons; no other port serves metrics. Default: none does'),
  METRICS_HOST: env.string().optional().describe('Address that METRICS_PORT listens on; default: HOST'),
  HTTP_HEADERS_TIMEOUT: env
    .duration('10s')
    .describe('How long a peer may take for the head of a request, and for the first one to begin; then 408'),
  HTTP_REQUEST_TIMEOUT: env.duration('60s').describe('How long it may take for a whole request; then 408'),
  HTTP_KEEP_ALIVE_TIMEOUT: env
    .duration('65s')
    .describe('How long a connection may stay without a request; longer than any load balancer in front keeps it'),
  HTTP_UNREAD_TIMEOUT: env
    .duration('30s')
    .describe('How long a peer may take nothing of an answer that waits; then its connection is cut'),
  HTTP_CONNECTIONS: env.integer(10_000).describe('Connections at once; more are closed as they come'),
  HTTP_PEER_CONNECTIONS: env
    .integer()
    .optional()
    .describe('The same for one peer; default: no limit, for behind a load balancer all are one peer'),
  LOG_LEVEL: env
    .choice(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info')
    .describe('Least severe lines that are written'),
  DATABASE_URL: env.url().describe('PostgreSQL database of this service'),
  DATABASE_DIRECT_URL: env.url().optional().describe('The same database without a transaction pooler in between'),
  DATABASE_POOL_SIZE: env.integer(6, 1_000).describe('PostgreSQL connections of this process'),
  KAFKA_BROKERS: env.list('127.0.0.1:9092').describe('Comma-separated host:port'),
  KAFKA_SSL: env.flag(false).describe('TLS to the brokers'),
  KAFKA_SASL_USERNAME: env.string().optional().describe('User at the brokers; with the password it turns SASL on'),
  KAFKA_SASL_PASSWORD: env.string().optional().describe('Its password'),
  KAFKA_SASL_MECHANISM: env
    .choice(['plain', 'scram-sha-256', 'scram-sha-512'], 'scram-sha-512')
    .describe('How the password is proved'),
  KAFKA_REPLICATION: env.integer(3, 9).describe('Replication factor that topics must have'),
  KAFKA_MIN_INSYNC_REPLICAS: env.integer(2, 9).describe('Copies that must confirm a record'),
  TOPIC_PREFIX: env.string().optional().describe('In front of every topic and consumer group'),
  SHUTDOWN_GRACE: env.duration('30s').describe('How long a drain may take after SIGTERM'),
})
export type CommonEnvironment = z.output<typeof commonEnvironment>

/** Second step for the common part: nested and named as the code uses it. */
export function commonConfiguration(environment: CommonEnvironment) {
  return {
    http: {
      port: environment.PORT,
      host: environment.HOST,
      limits: {
        headersMs: environment.HTTP_HEADERS_TIMEOUT,
        requestMs: environment.HTTP_REQUEST_TIMEOUT,
        keepAliveMs: environment.HTTP_KEEP_ALIVE_TIMEOUT,
        unreadMs: environment.HTTP_UNREAD_TIMEOUT,
        connections: environment.HTTP_CONNECTIONS,
        peerConnections: environment.HTTP_PEER_CONNECTIONS,
      },
    },
    metrics: metricsAddress(environment),
    log: { level: environment.LOG_LEVEL },
    database: {
      url: environment.DATABASE_URL,
      directUrl: environment.DATABASE_DIRECT_URL,
      poolSize: environment.DATABASE_POOL_SIZE,
    },
    kafka: {
      brokers: environment.KAFKA_BROKERS,
      ssl: environment.KAFKA_SSL,
      sasl:
        environment.KAFKA_SASL_USERNAME !== undefined && environment.KAFKA_SASL_PASSWORD !== undefined
          ? {
              mechanism: environment.KAFKA_SASL_MECHANISM,
              username: environment.KAFKA_SASL_USERNAME,
              password: environment.KAFKA_SASL_PASSWORD,
            }
          : undefined,
      replication: environment.KAFKA_REPLICATION,
      minInsyncReplicas: environment.KAFKA_MIN_INSYNC_REPLICAS,
      topicPrefix: environment.TOPIC_PREFIX,
    },
    shutdownGraceMs: environment.SHUTDOWN_GRACE,
  }
}

function metricsAddress({ METRICS_PORT: port, METRICS_HOST, HOST }: CommonEnvironment): MetricsAddress {
  return port === undefined ? undefined : { port, host: METRICS_HOST ?? HOST }
}

/** The sender of the installation's own mail: mail-send uses it, the gateway keeps its address and name from inboxes. */
export const systemSenderEnvironment = z.object({
  SYSTEM_SENDER: env
    .string('no-reply')
    .refine((name) => USERNAME.test(name), 'must be a local part: 1 to 64 of a-z 0-9 . _ -')
    .describe('Local part, at DEFAULT_DOMAIN, of the sender of mail of the installation itself; no inbox gets it'),
  SYSTEM_SENDER_NAME: env
    .string('Restante')
    .refine((name) => displayName.safeParse(name).success, 'must be one line of at most 256 characters')
    .describe('Name of that sender; inboxes on shared domains cannot be called so'),
})

/** The same as an address. @param defaultDomain lower case. */
export function systemSender(given: z.output<typeof systemSenderEnvironment>, defaultDomain: string) {
  const { SYSTEM_SENDER: localPart, SYSTEM_SENDER_NAME: name } = given
  return { localPart, name, address: `${localPart}@${defaultDomain}` }
}

/** For a service behind the gateway. */
export const callerEnvironment = z.object({
  CALLER_KEY: env.secret().describe('Key of the tokens that the gateway mints for this service'),
})

export type CommonConfiguration = ReturnType<typeof commonConfiguration>
