import { USAGE_TYPES } from '@restante/contracts/vocabulary'
import { Counter, Gauge } from 'prom-client'

/** Totals that a comparison has corrected. */
export const drift = new Counter({
  name: 'restante_metrics_drift_total',
  help: 'Running totals of scopes that a comparison with their owners corrected, by series.',
  labelNames: ['series'],
})
for (const series of USAGE_TYPES.organization) drift.inc({ series }, 0)

export const comparedAt = new Gauge({
  name: 'restante_metrics_compared_timestamp_seconds',
  help: 'When the last comparison with the counts of the owners was finished, in seconds since 1970. 0 before the first.',
})
