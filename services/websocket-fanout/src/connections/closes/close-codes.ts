import { Counter } from 'prom-client'

/** Close codes of the server. Never 1000: clients take it as final and do not reconnect (events 6.4). */
export const CLOSE = {
  goingAway: 1001,
  policy: 1008,
  internal: 1011,
  restart: 1012,
  overload: 1013,
} as const

/** Streams that this instance has closed. */
export const closesTotal = new Counter({
  name: 'restante_stream_closes_total',
  help: 'Streams closed by the service, by close code: 1001 maximum age, 1008 key ended or flood, 1011 defect, 1012 restart, 1013 reader or replay too slow',
  labelNames: ['code'],
})
// From 0 on, so that the first close counts as an increase.
for (const code of Object.values(CLOSE)) closesTotal.inc({ code }, 0)
