import { Histogram } from 'prom-client'

export const countLag = new Histogram({
  name: 'restante_metrics_count_lag_seconds',
  help: 'From the time of an event until it is counted',
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 300, 3_600],
})
