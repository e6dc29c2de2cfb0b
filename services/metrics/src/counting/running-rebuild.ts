import { topics } from '@restante/contracts/events'
import { consumerGroup, markEvents, type RecordedEvent } from '@restante/messaging'
import { sql, type Tx } from '@restante/service/database'
import { dayOf } from '../series/series.ts'

/** A rebuild that is reading the topics. */
export interface RunningRebuild {
  readonly id: number
  /** The first day that it rebuilds. */
  readonly cut_day: number
}

const HOLD = sql<never>(`select pg_advisory_xact_lock_shared(hashtextextended('rebuild', 0))`)
const EXCLUDE = sql<never>(`select pg_advisory_xact_lock(hashtextextended('rebuild', 0))`)
const RUNNING = sql<RunningRebuild>(`select id, cut_day from rebuilds where state = 'reading'`)

/** Has the rebuild that runs neither start nor end until the transaction ends. @returns it, when there is one. */
export async function holdRebuild(tx: Tx): Promise<RunningRebuild | undefined> {
  const [, [running]] = await Promise.all([tx.query(HOLD), tx.query(RUNNING)])
  return running
}

/** Excludes counting until the transaction ends, so that a rebuild starts or ends between two batches of events. */
export async function excludeCounting(tx: Tx): Promise<void> {
  await tx.query(EXCLUDE)
}

/**
 * The consumers that count live: a public event has the id of the fact about sent mail that it tells, so one consumer, whose
 * marks are ids, would take the second of them for a repetition of the first.
 */
export const LIVE_CONSUMERS = ['facts', 'deliveries'] as const
export type LiveConsumer = (typeof LIVE_CONSUMERS)[number]

const DELIVERIES: string = topics['mail.deliveries'].name

/** The consumer that counts the events of a topic. */
export function liveConsumerOf(topic: string): LiveConsumer {
  return topic === DELIVERIES ? 'deliveries' : 'facts'
}

/** The consumer group of one of them, which is also the name under which it marks events. */
export const LIVE_GROUPS: Readonly<Record<LiveConsumer, string>> = {
  facts: consumerGroup('metrics', 'facts'),
  deliveries: consumerGroup('metrics', DELIVERIES),
}

/** The name under which a rebuild marks the events that it has of those that a consumer counts. */
export function rebuildConsumer(id: number, consumer: LiveConsumer): string {
  return `metrics.rebuild-${id}.${consumer}`
}

/**
 * Marks the events of the days that are rebuilt as part of the rebuild, before scopes are held: in this order two transactions
 * never wait for each other. @returns those that it did not have.
 */
export async function markForRebuild(
  tx: Tx,
  rebuild: RunningRebuild,
  events: readonly RecordedEvent[],
): Promise<ReadonlySet<RecordedEvent>> {
  const due = events.filter(({ time }) => dayOf(time.getTime()) >= rebuild.cut_day)
  const unread = new Set<RecordedEvent>()
  for (const [consumer, of] of Map.groupBy(due, ({ position }) => liveConsumerOf(position.topic))) {
    // A relay that was killed publishes an event twice.
    const distinct = new Map(of.map((event) => [event.id, event]))
    const marked = await markEvents(tx, rebuildConsumer(rebuild.id, consumer), [...distinct.keys()])
    for (const [id, event] of distinct) if (marked.has(id)) unread.add(event)
  }
  return unread
}
