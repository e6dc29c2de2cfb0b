import type { tile } from '../panels.ts'
import { largest, quantile } from '../queries.ts'

/** What the tile of a stage shows, wherever it stands; its title and its description are the dashboard's. */
type Stage = Omit<Parameters<typeof tile>[0], 'title' | 'description'>

/** Accepted mail that no pipeline has stored. */
export const acceptedMail: Stage = {
  unit: 's',
  queries: [{ expr: largest('restante_mail_queue_oldest_seconds'), legend: 'oldest' }],
  limits: { orange: 30, red: 300 },
  runbooks: ['RestanteMailPipelineLate'],
}

/** Committed events that are not in Kafka. */
export const unpublishedEvents: Stage = {
  unit: 's',
  queries: [{ expr: largest('restante_outbox_lag_seconds'), legend: 'oldest' }],
  limits: { orange: 10, red: 120 },
  runbooks: ['RestanteOutboxLate', 'RestanteKafkaUnreachable'],
}

/** Webhook deliveries until their first request. */
export const firstRequests: Stage = {
  unit: 's',
  queries: [{ expr: quantile(0.95, 'restante_webhook_first_attempt_delay_seconds'), legend: '95 %' }],
  limits: { orange: 5, red: 60 },
  runbooks: ['RestanteWebhooksLate'],
}

/** Outgoing mail until its first attempt. */
export const firstAttempts: Stage = {
  unit: 's',
  queries: [{ expr: quantile(0.95, 'restante_delivery_first_attempt_delay_seconds'), legend: '95 %' }],
  limits: { orange: 5, red: 60 },
  runbooks: ['RestanteTimersLate'],
}
