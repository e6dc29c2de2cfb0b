export {
  Database,
  type DatabaseOptions,
  type OrmClient,
  type OrmOf,
  type TransactionOptions,
  type Tx,
} from './database/database.ts'
export { isInfrastructureError, isSerializationFailure, UpstreamError, uniqueViolation } from './database/errors.ts'
export { type MigrateOptions, migrate } from './database/migrate.ts'
export { type Queryable, type Statement, sql } from './database/statement.ts'
export type { Part } from './process/part.ts'
