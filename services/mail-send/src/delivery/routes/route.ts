import type { SendRecord } from '../outbound/sends.ts'
import type { BegunDelivery, OpenDelivery } from '../outcome/delivery.ts'
import type { Outcome } from '../outcome/outcome.ts'

/** A transport to the recipients of one message at one destination. */
export interface Route {
  readonly name: 'local' | 'outside'
  /** Whether the other side recognises a delivery, so that a repeated attempt has one effect. */
  readonly repeatable: boolean
  /** Where attempts meet each other; undefined where the number of workers is limit enough. */
  bottleneck(place: Place): Bottleneck | undefined
  /**
   * Tries every delivery. `begin` is called before another system learns of a delivery; it commits what was reported so
   * far, and may say that a delivery is no longer to be tried. `report` is called as soon as an outcome is certain.
   * @throws when the transport itself fails (another service, the database, the blob store): nothing is decided.
   */
  attempt(mail: OutgoingMail, steps: Steps, signal: AbortSignal): Promise<void>
}

/** Between which domains a message goes. */
export interface Place {
  readonly destination: string
  /** Domain that it is from; undefined: not known, so that it takes the default route. */
  readonly senderDomain?: string | undefined
}

/** What several attempts share: the hosts of a domain, or a relay. */
export interface Bottleneck {
  /** The key by which concurrency is limited, and troubles are remembered. */
  readonly key: string
  /** A relay has a queue of its own: neither the pace at a domain nor the warm-up of the source address applies. */
  readonly isRelay: boolean
  /** Concurrent attempts; undefined: as many as at any domain. */
  readonly concurrency?: number | undefined
}

export interface OutgoingMail extends Place {
  readonly send: SendRecord
  readonly deliveries: readonly OpenDelivery[]
  /** Aborted when a session should have come about; the attempt then ends with its reason, and decides nothing. */
  readonly patience?: AbortSignal
}

export interface Steps {
  begin(deliveries: readonly OpenDelivery[]): Promise<BegunDelivery[]>
  /**
   * `begin` for a delivery whose mail goes over the wire next, which counts for the warm-up.
   * @returns undefined when it is not to be tried: another attempt has it, or the volume of the day is used up.
   */
  beginSending(delivery: OpenDelivery): Promise<BegunDelivery | undefined>
  report(delivery: BegunDelivery, outcome: Outcome): void
}

/** No session came about within the time of a prompt one. */
export class NotPromptError extends Error {
  override readonly name = 'NotPromptError'
  constructor(destination: string) {
    super(`${destination} did not answer promptly`)
  }
}

/** A route that tries nothing: every delivery has this outcome. */
export function withOutcome(route: Route, outcome: Outcome): Route {
  return {
    name: route.name,
    repeatable: route.repeatable,
    bottleneck: (place) => route.bottleneck(place),
    async attempt({ deliveries }, { begin, report }) {
      for (const delivery of await begin(deliveries)) report(delivery, outcome)
    },
  }
}
