import { Counter, Histogram } from 'prom-client'

/** How late starts and ends are told. */
export const boundaryLag = new Histogram({
  name: 'restante_calendar_boundary_lag_seconds',
  help: 'From the start or end of a date until its event was raised',
  labelNames: ['boundary'],
  buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
})

/** Dates that were over when they were noticed, so that no event was raised. */
export const boundariesSkipped = new Counter({
  name: 'restante_calendar_boundaries_skipped_total',
  help: 'Dates that were over when they were noticed, too late for the events of their start and end',
})

for (const boundary of ['start', 'end']) boundaryLag.zero({ boundary })
