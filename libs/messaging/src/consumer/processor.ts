import type { Place } from './attempts.ts'
import type { ConsumedRecord } from './record.ts'

/** What a consumer does with the records of its lanes. */
export interface Processor {
  /** Most records of a lane that are processed together. */
  readonly batchSize: number
  /** Whether records of one key have a lane of their own; otherwise a partition is one lane. */
  readonly lanePerKey: boolean
  /** Whether the record is for this consumer at all; what is not counts as skipped. */
  accepts(record: ConsumedRecord): boolean
  /**
   * Resolves when every record's effect is committed, or the record lies safe in the dead letters.
   * @throws RevokedError when the partition is taken away first.
   */
  process(records: readonly ConsumedRecord[], place: Place): Promise<void>
}
