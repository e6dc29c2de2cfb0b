import { Gauge, Histogram } from 'prom-client'

export const settleDuration = new Histogram({
  name: 'restante_metrics_settle_duration_seconds',
  help: 'Time of one transaction that settles arrived points, of at most 200 series and days',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
})
export const settledAt = new Gauge({
  name: 'restante_metrics_settled_timestamp_seconds',
  help: 'When this process last had settled everything that was due, or else when it began to settle',
})
export const arrivals = new Gauge({
  name: 'restante_metrics_arrivals',
  help: 'Rows of points that are not settled, as PostgreSQL estimates them; every process of the service reports the same',
})
export const oldestArrival = new Gauge({
  name: 'restante_metrics_oldest_arrival_seconds',
  help: 'Time since the oldest point among the rows that wait longest to be settled; those of a quiet series wait for the end of their day (UTC)',
})
