import { Counter, Gauge, Histogram } from 'prom-client'

export const outboxLag = new Gauge({
  name: 'restante_outbox_lag_seconds',
  help: 'Age of the oldest event that is committed and not published; reported by the leading relay',
})
export const outboxUnpublished = new Gauge({
  name: 'restante_outbox_unpublished_rows',
  help: 'Events that wait for publication (counted up to 10,000); reported by the leading relay',
})
export const outboxPublished = new Counter({
  name: 'restante_outbox_published_total',
  help: 'Events published to Kafka',
  labelNames: ['topic'],
})
export const outboxRefused = new Counter({
  name: 'restante_outbox_refused_total',
  help: 'Events that Kafka rejects permanently, parked in the outbox',
  labelNames: ['topic'],
})
export const outboxParked = new Gauge({
  name: 'restante_outbox_parked_rows',
  help: 'Events that Kafka rejected permanently and that wait for an operator; reported by the leading relay',
})
export const outboxLeading = new Gauge({
  name: 'restante_outbox_leading',
  help: '1 in the process whose relay publishes the events of the service, 0 in its stand-bys',
})
// A service that publishes nothing has no relay, and must not look like one without a leader.
outboxLeading.remove()
export const handled = new Counter({
  name: 'restante_consumer_events_total',
  help: 'Events by outcome: handled, duplicate, skipped (unknown type, or a replay for another group), dead_letter',
  labelNames: ['group', 'outcome'],
})
export const overtook = new Counter({
  name: 'restante_consumer_events_ahead_total',
  help: 'Events that were handled at the end of a partition, ahead of older ones that wait; they are among those that are handled',
  labelNames: ['group'],
})
export const retried = new Counter({
  name: 'restante_consumer_retries_total',
  help: 'Failed attempts that are retried, by class of failure: infrastructure or deterministic',
  labelNames: ['group', 'class'],
})
export const handlingSeconds = new Histogram({
  name: 'restante_consumer_handling_seconds',
  help: 'Time from starting an event to its outcome, retries included',
  labelNames: ['group'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
})
export const deadLettered = new Counter({
  name: 'restante_consumer_dead_letters_total',
  help: 'Events written to the dead letters',
  labelNames: ['group', 'reason'],
})
export const deadLettersWaiting = new Gauge({
  name: 'restante_dead_letters',
  help: 'Dead letters that are stored, read twice a minute; every process of the service reports the same value',
  labelNames: ['group'],
})

/** What a running consumer reports whenever metrics are read. */
export interface ConsumerGauges {
  readonly group: string
  /** Age of the oldest record that was fetched and is not finished, in seconds; 0 when there is none. */
  lagSeconds(): number
  /** By topic, as of the last fetch of each partition. */
  lagRecords(): ReadonlyMap<string, number>
  pausedPartitions(): number
  /** Whether it is a member of its group. */
  joined(): boolean
}

const OUTCOMES = ['handled', 'duplicate', 'skipped', 'dead_letter']
const FAILURE_CLASSES = ['infrastructure', 'deterministic']
const REASONS = ['invalid', 'failed']

const consumers = new Set<ConsumerGauges>()

/**
 * Includes a consumer in the gauges until the returned function is called. Its counters begin at 0: a series that began
 * with the first event would hide that event from `increase()`.
 */
export function reportConsumer(gauges: ConsumerGauges): () => void {
  for (const outcome of OUTCOMES) handled.inc({ group: gauges.group, outcome }, 0)
  for (const failure of FAILURE_CLASSES) retried.inc({ group: gauges.group, class: failure }, 0)
  for (const reason of REASONS) deadLettered.inc({ group: gauges.group, reason }, 0)
  consumers.add(gauges)
  return () => consumers.delete(gauges)
}

new Gauge({
  name: 'restante_consumer_lag_seconds',
  help: 'Age of the oldest record that was fetched and is not finished',
  labelNames: ['group'],
  collect() {
    this.reset()
    for (const consumer of consumers) this.set({ group: consumer.group }, consumer.lagSeconds())
  },
})
new Gauge({
  name: 'restante_consumer_paused_partitions',
  help: 'Partitions paused because their queues are full or wait for the infrastructure',
  labelNames: ['group'],
  collect() {
    this.reset()
    for (const consumer of consumers) this.set({ group: consumer.group }, consumer.pausedPartitions())
  },
})
new Gauge({
  name: 'restante_consumer_lag_records',
  help: 'Records that are written and not finished, in the partitions of this process, as of the last fetch',
  labelNames: ['group', 'topic'],
  collect() {
    this.reset()
    for (const consumer of consumers)
      for (const [topic, records] of consumer.lagRecords()) this.set({ group: consumer.group, topic }, records)
  },
})
new Gauge({
  name: 'restante_consumer_joined',
  help: '1 while the process is a member of the consumer group, 0 while it tries to join',
  labelNames: ['group'],
  collect() {
    this.reset()
    for (const consumer of consumers) this.set({ group: consumer.group }, consumer.joined() ? 1 : 0)
  },
})
