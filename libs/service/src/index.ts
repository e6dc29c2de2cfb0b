export {
  ConfigurationError,
  env,
  parseDuration,
  problemsOf,
  type Rate,
  readEnvironment,
} from './configuration/environment.ts'
export { OptionalRedis, type OptionalRedisOptions } from './connections/optional-redis.ts'
export { networkOf, PeerLimit } from './connections/peer-limit.ts'
export { REDIS_DISCONNECT_MS } from './connections/redis.ts'
export { subnetOf, withinNetworks } from './connections/subnet.ts'
export { ChannelListener, type ChannelListenerOptions } from './database/channel-listener.ts'
export {
  Database,
  type DatabaseOptions,
  type Transactional,
  type TransactionOptions,
  type Tx,
} from './database/database.ts'
export {
  isInfrastructureError,
  isSerializationFailure,
  isStatementTimeout,
  UpstreamError,
  uniqueViolation,
} from './database/errors.ts'
export { type MigrateOptions, migrate } from './database/migrate.ts'
export { type Migration, migrationsOf } from './database/migrations.ts'
export { Notifier } from './database/notifier.ts'
export { retryThroughOutage } from './database/retry-through-outage.ts'
export { type Queryable, type Statement, sql, sqlUnprepared } from './database/statement.ts'
export { AdmittedCaller, type ConfirmCaller, confirmWith } from './http/admitted-caller.ts'
export { ApiError, type ApiErrorOptions, invalid, notFound } from './http/api-error.ts'
export { hasBody, readBody, requireDeclaredLength, sendContinue } from './http/body.ts'
export { BodyMemoryLimiter, type BodyMemoryLimiterOptions, type YieldSlot } from './http/body-memory-limiter.ts'
export type { ConnectionLimits } from './http/connection-limits.ts'
export { Cursors } from './http/cursors.ts'
export { type Exchange, requestIdOf, sendJson } from './http/exchange.ts'
export {
  KeysetPage,
  type KeysetPageOptions,
  type PageMembers,
  type PageQuery,
  type Position,
} from './http/keyset-page.ts'
export { HttpListener, type ListenerOptions } from './http/listener.ts'
export { type MetricsAddress, MetricsListener } from './http/metrics-listener.ts'
export {
  type AnyHandler,
  answer,
  type Handler,
  type Handlers,
  type InternalHandler,
  type InternalHandlers,
  type OperationRequest,
  type RequestContext,
} from './http/operations.ts'
export { RawHttpError } from './http/raw-http-error.ts'
export { type Match, Router } from './http/router.ts'
export { ServiceClient, type ServiceClientOptions, UpstreamRejectedError } from './http/service-client.ts'
export { handlerTable, type ServiceRoutesOptions, serviceRoutes } from './http/service-server.ts'
export { answerOnSocket, hangUp, type SocketAnswer } from './http/socket-answer.ts'
export { requireEventTypes } from './identity/event-types.ts'
export {
  isInScope,
  type Located,
  organizationScope,
  requireInbox,
  type ScopeFilter,
  scopeFilter,
} from './identity/scope.ts'
export {
  bodyDigest,
  CALLER_HEADER,
  type CallerClaims,
  InvalidTokenError,
  SERVICE_HEADER,
  TokenMint,
  verifyCaller,
  verifyService,
} from './identity/tokens.ts'
export { ByteSemaphore, type ByteSemaphoreOptions } from './memory/byte-semaphore.ts'
export * from './outbound/index.ts'
export { Batcher, type BatcherOptions } from './process/batcher.ts'
export { serviceCommand } from './process/command.ts'
export { type Component, STAGES, type Stage } from './process/component.ts'
export { KeyedMutex, type KeyedMutexOptions } from './process/keyed-mutex.ts'
export { Periodic, type PeriodicOptions } from './process/periodic.ts'
export { type Deployable, run } from './process/run.ts'
export { Service } from './process/service.ts'
export { Wakeup } from './process/wakeup.ts'
export { inboxesWaiting, PurgeBacklog, type PurgesWaiting } from './purges/purge-backlog.ts'
export {
  type PurgeStatements,
  type PurgeTable,
  purgeStatements,
  RoundRobinPurger,
  type RoundRobinPurgerOptions,
} from './purges/round-robin-purger.ts'
export { DecryptionError, SecretBox } from './secrets/secret-box.ts'
export { createLogger, type Logger } from './telemetry/logger.ts'
export { startTelemetry } from './telemetry/tracing.ts'
