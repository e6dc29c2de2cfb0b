import { LIMITS } from '@restante/contracts/vocabulary'
import type { FailingWebhook } from './store.ts'

export interface MailText {
  readonly subject: string
  readonly text: string
}

const days = LIMITS.webhook.disableAfter / 86_400_000

/**
 * What the human of an organization is told about failing webhooks: their ids and hosts, since when and how they fail,
 * and what to do. Neither the rest of the URL, which may contain a secret, nor anything of an event.
 */
export function warningText(webhooks: readonly FailingWebhook[]): MailText {
  const anyDisabled = webhooks.some(({ disabled }) => disabled)
  const what = anyDisabled ? 'disabled' : 'failing'
  return {
    subject: webhooks.length === 1 ? `A webhook is ${what}` : `Webhooks are ${what}`,
    text: [
      'Events could not be delivered to webhooks of your organization for days:',
      '',
      ...webhooks.flatMap(paragraph),
      `A webhook that does nothing but fail for ${days} days is disabled, at the earliest ${days / 2} days after its owner was`,
      'warned, and what it was still to get is dropped.',
      '',
      'What to do: repair the receiver, so that it answers every request with a status from 200 to 299 within',
      `${LIMITS.webhook.timeout / 1_000} seconds. Enable a disabled webhook again: PATCH /v0/webhooks/{webhook_id} with`,
      '{"enabled": true}. Then send it a test event: POST /v0/webhooks/{webhook_id}/test. One success ends the counting.',
      'GET /v0/webhooks/{webhook_id}/deliveries shows every attempt. If you do not need the webhook, delete it.',
      '',
    ].join('\n'),
  }
}

function paragraph({ webhook_id, url, failing_since, disabled, failures }: FailingWebhook): string[] {
  const since = `${failing_since.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return [
    `${webhook_id} at ${new URL(url).host}`,
    `  ${disabled ? 'disabled, failing' : 'failing'} since ${since}`,
    ...(failures.length > 0 ? [`  failures: ${failures.toSorted().join(', ')}`] : []),
    '',
  ]
}
