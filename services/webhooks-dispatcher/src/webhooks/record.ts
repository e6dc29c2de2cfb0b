import { type Caller, type EventType, holdsPermission, isEventType } from '@restante/contracts/access'
import type { CreatedWebhook, Webhook } from '@restante/contracts/resources'
import type { SecretBox } from '@restante/service/secrets'
import { openSecret } from '../delivery/secrets.ts'
import type { WebhookRow } from './store.ts'

/** A row as the API shows it: optional members are omitted when unset (events 7.2). */
export function webhookRecord(row: WebhookRow, box: SecretBox): Webhook {
  const eventTypes: EventType[] = row.event_types.filter(isEventType)
  return {
    webhook_id: row.id,
    organization_id: row.organization_id,
    url: row.url,
    secret: openSecret(box, row.id, row.secret),
    enabled: row.enabled,
    ...(eventTypes.length > 0 && { event_types: eventTypes }),
    ...(row.pod_ids.length > 0 && { pod_ids: row.pod_ids }),
    ...(row.inbox_ids.length > 0 && { inbox_ids: row.inbox_ids }),
    ...(row.pod_id !== null && { pod_id: row.pod_id }),
    ...(row.inbox_id !== null && { inbox_id: row.inbox_id }),
    ...(row.client_id !== null && { client_id: row.client_id }),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/**
 * The response to a create. If it found an existing webhook by its `client_id`, the secret is shown to the credential
 * that created the webhook, whose first response may have been lost, and to credentials that could read it with a GET;
 * to no other.
 */
export function createdRecord(row: WebhookRow, box: SecretBox, { credential }: Caller): CreatedWebhook {
  const { secret, ...others } = webhookRecord(row, box)
  const shown = row.created_by === credential.id || holdsPermission(credential, 'webhook_read')
  return shown ? { ...others, secret } : others
}
