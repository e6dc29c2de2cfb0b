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
    .describe('Port of /metrics, and of /readyz with reasons; no other port serves metrics. Default: metrics are off'),
  METRICS_HOST: env.string().optional().describe('Address that METRICS_PORT listens on; default: HOST'),
  HTTP_HEADERS_TIMEOUT: env
    .duration('10s')
    .describe('Time limit for the header of a request, and for a new connection to send its first one; then 408'),
  HTTP_REQUEST_TIMEOUT: env.duration('60s').describe('Time limit for receiving a whole request; then 408'),
  HTTP_KEEP_ALIVE_TIMEOUT: env
    .duration('65s')
    .describe('Keep-alive time of an idle connection; must exceed the idle timeout of any load balancer in front'),
  HTTP_UNREAD_TIMEOUT: env
    .duration('30s')
    .describe('Time limit for a client that does not read its response; then the connection is closed'),
  HTTP_CONNECTIONS: env.integer(10_000).describe('Concurrent connections; further ones are closed on arrival'),
  HTTP_PEER_CONNECTIONS: env
    .integer()
    .optional()
    .describe(
      'Concurrent connections of one client address. Default: no limit, because behind a load balancer all clients share one address',
    ),
  LOG_LEVEL: env
    .choice(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info')
    .describe('Lowest log level that is written'),
  DATABASE_URL: env.url().describe('PostgreSQL database of this service'),
  DATABASE_DIRECT_URL: env.url().optional().describe('The same database without a transaction pooler in between'),
  DATABASE_POOL_SIZE: env.integer(6, 1_000).describe('PostgreSQL connections of this process'),
  KAFKA_BROKERS: env.list('127.0.0.1:9092').describe('Comma-separated host:port'),
  KAFKA_SSL: env.flag(false).describe('Connect to the brokers over TLS'),
  KAFKA_SASL_USERNAME: env
    .string()
    .optional()
    .describe('SASL user name at the brokers; together with the password it enables SASL'),
  KAFKA_SASL_PASSWORD: env.string().optional().describe('Its password'),
  KAFKA_SASL_MECHANISM: env
    .choice(['plain', 'scram-sha-256', 'scram-sha-512'], 'scram-sha-512')
    .describe('SASL mechanism'),
  KAFKA_REPLICATION: env.integer(3, 9).describe('Required replication factor of topics'),
  KAFKA_MIN_INSYNC_REPLICAS: env.integer(2, 9).describe('Replicas that must confirm a record (min.insync.replicas)'),
  TOPIC_PREFIX: env.string().optional().describe('Prefix of every topic and consumer group'),
  SHUTDOWN_GRACE: env.duration('30s').describe('Time limit for draining after SIGTERM'),
})
export type CommonEnvironment = z.output<typeof commonEnvironment>

/** Second step for the common variables: nests and names them as the code uses them. */
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

/** The sender of the installation's own mail. mail-send sends as it; the gateway reserves its address and name. */
export const systemSenderEnvironment = z.object({
  SYSTEM_SENDER: env
    .string('no-reply')
    .refine((name) => USERNAME.test(name), 'must be a local part: 1 to 64 of a-z 0-9 . _ -')
    .describe(
      "Local part, at DEFAULT_DOMAIN, of the address that the installation's own mail is sent from; reserved, no inbox can have it",
    ),
  SYSTEM_SENDER_NAME: env
    .string('Restante')
    .refine((name) => displayName.safeParse(name).success, 'must be one line of at most 256 characters')
    .describe('Display name of that sender; inboxes on shared domains cannot use it'),
})

/** The system sender as an address. @param defaultDomain lower case. */
export function systemSender(given: z.output<typeof systemSenderEnvironment>, defaultDomain: string) {
  const { SYSTEM_SENDER: localPart, SYSTEM_SENDER_NAME: name } = given
  return { localPart, name, address: `${localPart}@${defaultDomain}` }
}

/** Variables of a service behind the gateway. */
export const callerEnvironment = z.object({
  CALLER_KEY: env.secret().describe('Key with which the gateway signs caller tokens for this service'),
})

export type CommonConfiguration = ReturnType<typeof commonConfiguration>
