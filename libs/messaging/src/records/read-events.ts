import type { TopicDefinition } from '@restante/contracts/events'
import type { Admin } from 'kafkajs'
import { InvalidRecordError, type RecordedEvent, readEnvelope } from '../kafka/envelope.ts'
import type { Kafka } from '../kafka/kafka.ts'
import type { RecordPosition } from '../kafka/position.ts'
import type { ConsumedRecord } from '../kafka/record.ts'
import { type ReadLimits, readRecords } from './read-records.ts'

/** The records of one partition from an offset on, up to another one, which is not included. */
export interface RecordRange extends RecordPosition {
  readonly until: number
}

const ONE: ReadLimits = { records: 1, bytes: 1, ms: 10_000 }

/**
 * Reads one event again, as long as its topic keeps it.
 * @returns undefined when Kafka keeps no record there any more, or a record of something else.
 * @throws UpstreamError when Kafka does not answer within 10 s.
 */
export async function readRecordedEvent(kafka: Kafka, position: RecordPosition): Promise<RecordedEvent | undefined> {
  const bounds = await kafka.administrate((admin) => boundsOf(kafka, admin, position.topic))
  const { low, high } = bounds.get(position.partition) ?? { low: 0, high: 0 }
  if (position.offset < low || position.offset >= high) return undefined
  const { records } = await readRecords(kafka, position, position.offset + 1, ONE)
  return records.flatMap(eventOf).find((event) => event.position.offset === position.offset)
}

/**
 * The records that reached Kafka in a time range, by partition: those that it still keeps, and of these only what a
 * consumer group has processed. What that group has not reached yet it will still handle by itself. Without a group, all of
 * it.
 * @param from the first time. @param to the first time that is not included.
 */
export async function recordedBetween(
  kafka: Kafka,
  topics: readonly TopicDefinition[],
  group: string | undefined,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<RecordRange[]> {
  return kafka.administrate(async (admin) => {
    const ranges: RecordRange[] = []
    for (const { name } of topics) {
      const [bounds, first, last, processed] = await Promise.all([
        boundsOf(kafka, admin, name),
        offsetsAt(kafka, admin, name, from),
        offsetsAt(kafka, admin, name, to),
        group === undefined ? undefined : committedOf(kafka, admin, group, name),
      ])
      for (const [partition, { low, high }] of bounds) {
        const offset = Math.max(low, first.get(partition) ?? high)
        const until = Math.min(high, last.get(partition) ?? high, processed ? (processed.get(partition) ?? 0) : high)
        if (offset < until) ranges.push({ topic: name, partition, offset, until })
      }
    }
    return ranges
  })
}

/** The records that topics hold now, of every partition. */
export async function heldRecords(kafka: Kafka, topics: readonly TopicDefinition[]): Promise<RecordRange[]> {
  return kafka.administrate(async (admin) => {
    const held: RecordRange[] = []
    for (const { name: topic } of topics)
      for (const [partition, { low, high }] of await boundsOf(kafka, admin, topic))
        held.push({ topic, partition, offset: low, until: high })
    return held
  })
}

/**
 * Whether topics hold records that were written before a time, and whether they hold all that were written since: of each
 * partition that has lost records it holds an older one, or lost all of them to its retention before that time.
 */
export async function heldAround(
  kafka: Kafka,
  topics: readonly TopicDefinition[],
  at: Date,
): Promise<{ readonly hasEarlier: boolean; readonly hasAllSince: boolean }> {
  return kafka.administrate(async (admin) => {
    let [hasEarlier, hasAllSince] = [false, true]
    for (const { name, retentionMs } of topics) {
      const bounds = await boundsOf(kafka, admin, name)
      const first = await offsetsAt(kafka, admin, name, at)
      for (const [partition, { low, high }] of bounds) {
        const holdsOlder = low < high && (first.get(partition) ?? high) > low
        // Nothing younger is deleted: `topicSettings` takes at most an eighth off.
        const lostBefore = low === high && at.getTime() >= Date.now() - (retentionMs * 7) / 8
        if (holdsOlder) hasEarlier = true
        if (low > 0 && !holdsOlder && !lostBefore) hasAllSince = false
      }
    }
    return { hasEarlier, hasAllSince }
  })
}

/** Whether a consumer group has handled everything before the ends of ranges, and committed that. */
export async function hasProcessed(kafka: Kafka, group: string, ranges: readonly RecordRange[]): Promise<boolean> {
  return kafka.administrate(async (admin) => {
    for (const [topic, of] of Map.groupBy(ranges, (range) => range.topic)) {
      const committed = await committedOf(kafka, admin, group, topic)
      // A group that was given nothing to handle has committed nothing.
      if (of.some(({ partition, offset, until }) => offset < until && (committed.get(partition) ?? -1) < until))
        return false
    }
    return true
  })
}

/**
 * Reads the events of a range, or the first of them where they exceed the limits.
 * @returns the events, and the offset at which to continue; it is `range.until` at the end. Records that are no events
 * of this system are left out.
 * @throws UpstreamError when Kafka does not answer within `limits.ms`.
 */
export async function readEvents(
  kafka: Kafka,
  range: RecordRange,
  limits: ReadLimits,
): Promise<{ readonly events: readonly RecordedEvent[]; readonly next: number }> {
  const { records, next } = await readRecords(kafka, range, range.until, limits)
  return { events: records.flatMap(eventOf), next }
}

function eventOf(record: ConsumedRecord): RecordedEvent[] {
  try {
    return [readEnvelope(record)]
  } catch (error) {
    if (error instanceof InvalidRecordError) return []
    throw error
  }
}

/** The first offset that each partition of a topic holds, and the one after its last record. */
export async function boundsOf(
  kafka: Kafka,
  admin: Admin,
  topic: string,
): Promise<Map<number, { readonly low: number; readonly high: number }>> {
  const found = await admin.fetchTopicOffsets(kafka.physical(topic))
  return new Map(found.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]))
}

/** The offset of the first record since a time, by partition; the end of the partition where there is none. */
async function offsetsAt(kafka: Kafka, admin: Admin, topic: string, at: Date): Promise<Map<number, number>> {
  const found = await admin.fetchTopicOffsetsByTimestamp(kafka.physical(topic), at.getTime())
  return new Map(found.map(({ partition, offset }) => [partition, Number(offset)]))
}

async function committedOf(kafka: Kafka, admin: Admin, group: string, topic: string): Promise<Map<number, number>> {
  const name = kafka.physical(topic)
  const [found] = await admin.fetchOffsets({ groupId: kafka.physical(group), topics: [name] })
  return new Map((found?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)]))
}
