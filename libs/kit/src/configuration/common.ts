import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { kafkaConfiguration, kafkaProblems, kafkaVariables } from '@restante/messaging'
import { env } from '@restante/service/configuration'
import { databaseUrl } from '@restante/service/database'
import { engineVariables } from '@restante/service/engines'
import type { MetricsAddress } from '@restante/service/http'
import { z } from 'zod'

/** Port of the first service; the others follow in the order of `SERVICES`. */
const FIRST_PORT = 3000

/** The database of a service; also read by programs of the operator. */
export const databaseVariables = z.object({
  DATABASE_URL: databaseUrl().describe('PostgreSQL database of this service; sslmode=verify-full in it requires TLS'),
  DATABASE_DIRECT_URL: databaseUrl()
    .optional()
    .describe('URL of the same database that bypasses a transaction pooler, if DATABASE_URL is that of one'),
  DATABASE_POOL_SIZE: env.integer(6, 1_000).describe('PostgreSQL connections of this process'),
  DATABASE_PREPARED_STATEMENTS: env
    .flag(true)
    .describe(
      'Keep prepared statements on connections; false behind a transaction pooler that does not track them, such as PgBouncer before 1.21',
    ),
  ...engineVariables.shape,
})

const frameEnvironment = z.object({
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
  PUBLIC_URL: env.url().describe('Base URL of the public API, as clients use it'),
  DOCS_URL: env.url().optional().describe('Base URL of the documentation links in errors; default: <PUBLIC_URL>/docs'),
  SHUTDOWN_GRACE: env.duration('30s').describe('Time limit for draining after SIGTERM'),
})
export type FrameEnvironment = z.output<typeof frameEnvironment>

/** The variables that every service reads. */
export function frameBlock(name: ServiceName) {
  const port = env.port(FIRST_PORT + SERVICES.indexOf(name)).describe('HTTP port of this service')
  return { variables: frameEnvironment.extend({ PORT: port }), configure: frameConfiguration }
}

function frameConfiguration(environment: FrameEnvironment) {
  const publicUrl = environment.PUBLIC_URL.replace(/\/+$/, '')
  return {
    publicUrl,
    docsUrl: environment.DOCS_URL ?? `${publicUrl}/docs`,
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
    shutdownGraceMs: environment.SHUTDOWN_GRACE,
  }
}

function metricsAddress({ METRICS_PORT: port, METRICS_HOST, HOST }: FrameEnvironment): MetricsAddress {
  return port === undefined ? undefined : { port, host: METRICS_HOST ?? HOST }
}

export type FrameConfigured = ReturnType<typeof frameConfiguration>

const enginesEnvironment = z.object({ ...databaseVariables.shape, ...kafkaVariables.shape })
export type EnginesEnvironment = z.output<typeof enginesEnvironment>

/** The variables of a service that stores and publishes: its database, and Kafka. */
export const enginesBlock = {
  variables: enginesEnvironment,
  check: (given: EnginesEnvironment) => kafkaProblems(given),
  configure: (environment: EnginesEnvironment) => ({
    database: {
      url: environment.DATABASE_URL,
      directUrl: environment.DATABASE_DIRECT_URL,
      poolSize: environment.DATABASE_POOL_SIZE,
      prepared: environment.DATABASE_PREPARED_STATEMENTS,
      trust: environment.ENGINE_CA_FILE,
    },
    engineTrust: environment.ENGINE_CA_FILE,
    kafka: kafkaConfiguration(environment),
  }),
}

/** What the configuration of a service that stores and publishes has in addition. */
export type EnginesConfiguration = ReturnType<typeof enginesBlock.configure>
