import type { WebhookReceiver } from '@restante/testkit'
import { repeated } from '../../faults/harness/counts.ts'

/** One request, as far as it is counted. */
interface Told {
  readonly type: string
  readonly messageId: string
  readonly eventId: string
  /** The `svix-id`. */
  readonly deliveryId: string
}

/** What a webhook got, and what of it twice. */
export class WebhookLedger {
  readonly #receiver: WebhookReceiver
  readonly #told: Told[] = []

  constructor(receiver: WebhookReceiver) {
    this.#receiver = receiver
  }

  /** Ids of the events of a type about each message. */
  events(type: string): ReadonlyMap<string, ReadonlySet<string>> {
    const ofType = this.#all().filter((told) => told.type === type)
    const byMessage = Map.groupBy(ofType, ({ messageId }) => messageId)
    return new Map([...byMessage].map(([id, told]) => [id, new Set(told.map(({ eventId }) => eventId))]))
  }

  /** The messages about which there was more than one event of a type. */
  toldByTwoEvents(type: string): string[] {
    return [...this.events(type)].flatMap(([id, events]) => (events.size > 1 ? [id] : []))
  }

  /** The messages of which an event of a type came under more than one `svix-id`. */
  toldUnderTwoIds(type: string): string[] {
    const byEvent = Map.groupBy(
      this.#all().filter((told) => told.type === type),
      ({ eventId }) => eventId,
    )
    return [...byEvent.values()].flatMap((told) =>
      told[0] && new Set(told.map(({ deliveryId }) => deliveryId)).size > 1 ? [told[0].messageId] : [],
    )
  }

  /** What came again under the same `svix-id` after it had been accepted. */
  acceptedTwice(): string[] {
    return repeated(this.#receiver.taken)
  }

  #all(): readonly Told[] {
    for (const { body, headers } of this.#receiver.requests.slice(this.#told.length)) {
      const document = Object(JSON.parse(body))
      const about = Object(document.message ?? document.send ?? document.delivery)
      this.#told.push({
        type: String(document.event_type),
        messageId: String(about.message_id),
        eventId: String(document.event_id),
        deliveryId: String(headers['svix-id']),
      })
    }
    return this.#told
  }
}
