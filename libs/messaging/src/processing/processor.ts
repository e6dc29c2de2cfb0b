import type { ConsumedRecord } from '../kafka/record.ts'
import type { PausablePartitions } from './attempts.ts'

/** What a consumer does with the records of its queues. */
export interface Processor {
  /** Most records that are processed together. */
  readonly batchSize: number
  /** Whether each key has its own queue; otherwise a partition has one queue. */
  readonly queuePerKey: boolean
  /** Whether the record is for this consumer; other records count as skipped. */
  accepts(record: ConsumedRecord): boolean
  /**
   * Resolves when every record's effect is committed, or the record is stored in the dead letters.
   * @throws RevokedError when their partitions are revoked first.
   */
  process(records: readonly ConsumedRecord[], partitions: PausablePartitions): Promise<void>
}
