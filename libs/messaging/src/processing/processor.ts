import type { ConsumedRecord } from '../kafka/record.ts'
import type { PausablePartition } from './attempts.ts'

/** What a consumer does with the records of its queues. */
export interface Processor {
  /** Most records of one queue that are processed together. */
  readonly batchSize: number
  /** Whether each key has its own queue; otherwise a partition has one queue. */
  readonly queuePerKey: boolean
  /** Whether the record is for this consumer; other records count as skipped. */
  accepts(record: ConsumedRecord): boolean
  /**
   * Resolves when every record's effect is committed, or the record is stored in the dead letters.
   * @throws RevokedError when the partition is revoked first.
   */
  process(records: readonly ConsumedRecord[], partition: PausablePartition): Promise<void>
}
