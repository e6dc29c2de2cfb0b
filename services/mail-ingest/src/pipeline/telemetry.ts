import { Counter, Histogram } from 'prom-client'

export const mailAttempts = new Counter({
  name: 'restante_mail_attempts_total',
  help: 'Attempts to process an accepted mail, by outcome: stored, a discard reason, reported, reported_with_copy, forwarded (to the operator), why a report was dropped, outage, failed, overdue, lease_lost',
  labelNames: ['outcome'],
})
export const mailLatency = new Histogram({
  name: 'restante_mail_latency_seconds',
  help: 'Time from the acceptance of a mail to the commit that stores it in its mailbox',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300],
})
