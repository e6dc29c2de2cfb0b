import { topics } from '@restante/contracts/events'
import type { Kafka } from '@restante/messaging'
import { collectTopic, verifyWebhook, type WebhookReceiver, waitFor } from '@restante/testkit'
import type { Tenant } from '../../support/tenants.ts'

/** Message-IDs of an inbox in the order of its list, newest first; a message that is stored twice is listed twice. */
export async function storedIn(tenant: Tenant, inboxId: string): Promise<string[]> {
  const found: string[] = []
  for (let pageToken: string | undefined, more = true; more; more = pageToken !== undefined) {
    const page = await tenant.client.inboxes.messages.list(inboxId, {
      limit: 100,
      labels: ['received'],
      ...(pageToken !== undefined && { pageToken }),
    })
    found.push(...page.messages.map(({ messageId }) => messageId))
    pageToken = page.nextPageToken
  }
  return found
}

/** Message-IDs of `message.received`, each with the ids of its events. */
export type EventIds = ReadonlyMap<string, ReadonlySet<string>>

/** The webhook requests of a receiver, each checked once: signatures expire after five minutes. */
export class VerifiedWebhooks {
  readonly #receiver: WebhookReceiver
  readonly #secret: string
  readonly #documents: object[] = []

  constructor(receiver: WebhookReceiver, secret: string) {
    this.#receiver = receiver
    this.#secret = secret
  }

  /** @throws WebhookVerificationError when the signature of a request that has arrived since the last call is wrong. */
  events(): EventIds {
    for (const request of this.#receiver.requests.slice(this.#documents.length))
      this.#documents.push(Object(verifyWebhook(this.#secret, request)))
    return eventsIn(this.#documents)
  }
}

/** The same by the id of the delivery, by which a receiver detects repetitions. */
export function deliveryIds({ requests }: WebhookReceiver): EventIds {
  return collect(requests.map(({ body, headers }) => ({ document: JSON.parse(body), id: String(headers['svix-id']) })))
}

/** The events in documents of webhooks and streams. */
export function eventsIn(documents: readonly object[]): EventIds {
  return collect(documents.map((document) => ({ document, id: String(Object(document)['event_id']) })))
}

/** The events of an organization in the topic of messages. */
export async function publishedIn(kafka: Kafka, organizationId: string, expected: number): Promise<EventIds> {
  const collection = await collectTopic(kafka, topics['mail.messages'].name)
  const received = () =>
    collection.records.filter(
      ({ type, headers }) => type === 'message.received' && headers['ce_organizationid'] === organizationId,
    )
  try {
    await waitFor(() => received().length >= expected, { what: `${expected} events in the topic` })
    return collect(received().map(({ id, value }) => ({ document: JSON.parse(value), id })))
  } finally {
    await collection.stop()
  }
}

/** Dead letters of all consumer groups. */
export function deadLetters(kafka: Kafka): Promise<number> {
  return kafka.administrate(async (admin) => {
    const names = (await admin.listTopics()).filter((name) => name.startsWith(kafka.physical('')))
    const offsets = await Promise.all(
      names.filter((name) => name.endsWith('.dlq')).map((name) => admin.fetchTopicOffsets(name)),
    )
    return offsets.flat().reduce((sum, { high }) => sum + Number(high), 0)
  })
}

/** Entries that occurred before in the list. */
export function repeated(entries: readonly string[]): string[] {
  const seen = new Set<string>()
  return entries.filter((entry) => seen.size === seen.add(entry).size)
}

function collect(entries: readonly { readonly document: object; readonly id: string }[]): EventIds {
  const found = new Map<string, Set<string>>()
  for (const { document, id } of entries) {
    if (Object(document)['event_type'] !== 'message.received') continue
    const messageId = String(Object(Object(document)['message'])['message_id'])
    found.set(messageId, (found.get(messageId) ?? new Set()).add(id))
  }
  return found
}
