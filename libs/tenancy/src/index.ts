export { deleteRows, heldInboxes, type RowDeletion, rowDeletion } from './inbox-tables.ts'
export { type HeldInbox, listInboxes } from './list-inboxes.ts'
export type { BatchOutcome, PurgeInBatches } from './purge.ts'
export { type PurgeStatements, type PurgeTable, purgeStatements, RoundRobinPurger } from './round-robin-purger.ts'
export { TakeOverTable } from './take-over-table.ts'
export { type PurgeAtOnce, Tenancy, type TenancyOptions } from './tenancy.ts'
export {
  type DeletedScope,
  type Deletion,
  deletedAmong,
  deletionOfInbox,
  findTombstone,
  findTombstones,
  holdAmong,
  holdInbox,
  holdScopes,
  lockScope,
  type Tombstone,
  type TombstoneOptions,
  Tombstones,
} from './tombstones.ts'
