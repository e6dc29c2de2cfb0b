import { Counter, Histogram } from 'prom-client'
import { PROVIDERS } from './providers.ts'

export const deliveryDecisions = new Counter({
  name: 'restante_deliveries_total',
  help: 'Outcomes of attempts, one per recipient: delivered, deferred, bounced, rejected',
  labelNames: ['route', 'outcome'],
})
export const providerOutcomes = new Counter({
  name: 'restante_delivery_outcomes_total',
  help: 'Outcomes of attempts at external recipients, one per recipient, by mailbox provider (large ones by name)',
  labelNames: ['provider', 'outcome'],
})

// A series that began with the first event would hide that event from `increase()`, and a share needs both sides.
for (const outcome of ['delivered', 'deferred', 'bounced', 'rejected']) {
  for (const route of ['local', 'outside']) deliveryDecisions.inc({ route, outcome }, 0)
  for (const provider of PROVIDERS) providerOutcomes.inc({ provider, outcome }, 0)
}

export const attemptSeconds = new Histogram({
  name: 'restante_delivery_attempt_seconds',
  help: 'Duration of one attempt: all recipients of a message at one destination',
  labelNames: ['route'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
})
export const firstAttemptDelay = new Histogram({
  name: 'restante_delivery_first_attempt_delay_seconds',
  help: 'Time from the acceptance of a message to its first attempt',
  labelNames: ['route'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
})
export const installationMailFailures = new Counter({
  name: 'restante_installation_mail_failures_total',
  help: 'Mails of the installation itself (codes, mail to the operator) that were refused for good',
})
export const unknownOutcomes = new Counter({
  name: 'restante_delivery_unknown_outcomes_total',
  help: 'Deliveries retried although a server may have taken them before a crash: possible duplicates',
})
