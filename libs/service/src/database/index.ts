export { databaseUrl } from './access/connection.ts'
export { ChannelListener, type ChannelListenerOptions } from './channel-listener.ts'
export {
  Database,
  type DatabaseOptions,
  PLANNING,
  type Transactional,
  type TransactionOptions,
  type Tx,
} from './database.ts'
export { isLockTimeout, isSerializationFailure, isStatementTimeout, uniqueViolation } from './errors.ts'
export { ExpirySweeper, type ExpirySweeperOptions, type Sweep, sweepAll, sweepOf } from './expiry-sweeper.ts'
export { hashedUuid } from './hashed-uuid.ts'
export { blamingHeavyStatements } from './heavy-statement.ts'
export { type MigrateOptions, migrate } from './migrations/migrate.ts'
export { type Migration, migrationsOf, shortNameOf } from './migrations/migrations.ts'
export { isOutsideTransaction, runStatements } from './migrations/run-migration.ts'
export { Notifier } from './notifier.ts'
export { PurgeBacklog, type PurgesWaiting } from './purge-backlog.ts'
export { retryThroughOutage } from './retry-through-outage.ts'
export { type Queryable, type Statement, sql, sqlUnprepared } from './statement.ts'
