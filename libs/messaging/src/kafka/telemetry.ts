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
export const handled = new Counter({
  name: 'restante_consumer_events_total',
  help: 'Events by outcome: handled, duplicate, skipped (unknown type, or a replay for another group), dead_letter',
  labelNames: ['group', 'outcome'],
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

/** What a running consumer reports whenever metrics are read. */
export interface ConsumerGauges {
  readonly group: string
  /** Age of the oldest record that was fetched and is not finished, in seconds; 0 when there is none. */
  lagSeconds(): number
  pausedPartitions(): number
}

const consumers = new Set<ConsumerGauges>()

/** Includes a consumer in the gauges until the returned function is called. */
export function reportConsumer(gauges: ConsumerGauges): () => void {
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
