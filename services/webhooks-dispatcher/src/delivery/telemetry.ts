import { Counter, Histogram } from 'prom-client'

/** The decision about a delivery after an attempt. */
export const DECISIONS = ['delivered', 'retry', 'given_up', 'disabled', 'dropped'] as const
export type Decision = (typeof DECISIONS)[number]

export const attemptsTotal = new Counter({
  name: 'restante_webhook_attempts_total',
  help: 'Webhook requests by decision: delivered, retry, given_up (after the last retry), disabled (the webhook was), dropped (the webhook is gone)',
  labelNames: ['decision'],
})
// A series that began with the first event would hide that event from `increase()`.
for (const decision of DECISIONS) attemptsTotal.inc({ decision }, 0)

export const attemptSeconds = new Histogram({
  name: 'restante_webhook_attempt_duration_seconds',
  help: 'Duration of one webhook request',
  buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15],
})
export const firstAttemptDelay = new Histogram({
  name: 'restante_webhook_first_attempt_delay_seconds',
  help: 'Time from the creation of a delivery to its first request',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
})
