import type { TopicDefinition } from '@restante/contracts/events'
import { invalid } from '@restante/service/errors'
import type { Kafka } from '../kafka/kafka.ts'
import { formatPosition, parsePosition, type RecordPosition } from '../kafka/position.ts'
import type { ConsumedRecord } from '../kafka/record.ts'
import { recordedBetween } from '../records/read-events.ts'
import { readRecords } from '../records/read-records.ts'

/** What one call reads at most. */
const LIMITS = { records: 500, bytes: 8 * 1024 * 1024, ms: 10_000 }

/** The records that one call has read, and the page token of the next one. */
export interface RecordedPage {
  readonly records: readonly ConsumedRecord[]
  readonly next?: string
}

/**
 * Reads what reached Kafka since a time and is still kept, partition by partition, a page at a time. What arrives during
 * the reading is left to the consumers: a page token has the time of the first page, so that the reading ends although
 * records keep arriving.
 * @param group only what this consumer group has processed; without one, all of it.
 * @throws UpstreamError when Kafka does not answer in time.
 */
export async function recordedSince(
  kafka: Kafka,
  topics: readonly TopicDefinition[],
  { since, after, group }: { since: Date; after: string | undefined; group?: string },
): Promise<RecordedPage> {
  const { to, position } = parseToken(after)
  const found = await recordedBetween(kafka, topics, group, { from: since, to })
  // Kafka names partitions in no order.
  const ranges = found.toSorted((a, b) => orderOf(topics, a) - orderOf(topics, b) || a.partition - b.partition)
  const index = position ? ranges.findIndex((range) => isFrom(topics, range, position)) : 0
  const range = ranges[index]
  if (range === undefined) return { records: [] }
  const isSame = range.topic === position?.topic && range.partition === position.partition
  const start = isSame ? Math.max(range.offset, position.offset) : range.offset
  const { records, next } = await readRecords(kafka, { ...range, offset: start }, range.until, LIMITS)
  if (next < range.until) return { records, next: tokenOf(to, { ...range, offset: next }) }
  const following = ranges[index + 1]
  return { records, ...(following && { next: tokenOf(to, following) }) }
}

function tokenOf(to: Date, position: RecordPosition): string {
  return `${to.getTime()}:${formatPosition(position)}`
}

function parseToken(token: string | undefined): { readonly to: Date; readonly position: RecordPosition | undefined } {
  if (token === undefined) return { to: new Date(), position: undefined }
  const [, time = '', text = ''] = /^(\d{1,15}):(.*)$/.exec(token) ?? []
  const position = parsePosition(text)
  if (position === undefined) throw invalid(['after'], 'Not a position of this reading')
  return { to: new Date(Number(time)), position }
}

/** Whether a range is that of a position, or one that is read later. */
function isFrom(topics: readonly TopicDefinition[], range: RecordPosition, position: RecordPosition): boolean {
  const difference = orderOf(topics, range) - orderOf(topics, position)
  return difference > 0 || (difference === 0 && range.partition >= position.partition)
}

function orderOf(topics: readonly TopicDefinition[], { topic }: RecordPosition): number {
  return topics.findIndex(({ name }) => name === topic)
}
