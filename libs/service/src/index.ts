export * from './concurrency/index.ts'
export * from './configuration/index.ts'
export * from './connections/index.ts'
export * from './database/index.ts'
export * from './errors/index.ts'
export * from './http/index.ts'
export * from './identity/index.ts'
export * from './outbound/index.ts'
export * from './process/index.ts'
export { inboxesWaiting, PurgeBacklog, type PurgesWaiting } from './purges/purge-backlog.ts'
export {
  type PurgeStatements,
  type PurgeTable,
  purgeStatements,
  RoundRobinPurger,
  type RoundRobinPurgerOptions,
} from './purges/round-robin-purger.ts'
export * from './secrets/index.ts'
export * from './telemetry/index.ts'
