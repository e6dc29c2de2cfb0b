import {
  type ConsumedRecord,
  InvalidRecordError,
  type Kafka,
  type RangeRecords,
  type RecordedEvent,
  type RecordRange,
  readEnvelope,
  readRanges,
} from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { CHANGING_TYPES, changesOf } from '../counting/changes.ts'
import { countForRebuild } from '../counting/count.ts'
import { holdRebuild, type RunningRebuild } from '../counting/running-rebuild.ts'
import { DAY_MS } from '../series/series.ts'
import { refuseLoss } from './plan.ts'
import { advance } from './store.ts'

/** Most records in one transaction. */
const TOGETHER = 500

const counted: ReadonlySet<string> = new Set(CHANGING_TYPES)

interface ReadingOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  readonly stopping: AbortSignal
}

/** Reads what is left of the ranges of a rebuild; how far it has come commits together with what it has counted. */
export async function readEventsOf(
  rebuild: RunningRebuild,
  ranges: readonly RecordRange[],
  { kafka, db, log, stopping }: ReadingOptions,
): Promise<void> {
  const ended = new AbortController()
  const take = async ({ range, records, next, lostBefore }: RangeRecords): Promise<void> => {
    if (lostBefore !== undefined) refuseLoss(range, lostBefore.getTime(), rebuild.cut_day)
    const events = records.flatMap((record) => countable(record, rebuild, log))
    const isOurs = await db.transaction(async (tx) => {
      if ((await holdRebuild(tx))?.id !== rebuild.id || !(await advance(tx, rebuild.id, range, next))) return false
      if (events.length > 0) await countForRebuild(tx, rebuild, events)
      return true
    })
    // Another process reads, or the rebuild has ended.
    if (!isOurs) ended.abort()
  }
  await readRanges(kafka, ranges, { take, together: TOGETHER, stopping: AbortSignal.any([stopping, ended.signal]) })
}

/** The event of a record, if it is counted. One that cannot be read is in the dead letters of the live consumer. */
function countable(record: ConsumedRecord, rebuild: RunningRebuild, log: Logger): RecordedEvent[] {
  if (!counted.has(record.headers['ce_type'] ?? '')) return []
  try {
    const event = readEnvelope(record)
    if (event.time.getTime() < rebuild.cut_day * DAY_MS) return []
    changesOf(event)
    return [event]
  } catch (error) {
    if (!(error instanceof InvalidRecordError)) throw error
    const { topic, partition, offset } = record
    log.warn({ topic, partition, offset, err: error }, 'invalid event left out of the rebuild')
    return []
  }
}
