import type { SendRecord } from '../outbound/sends.ts'
import type { BegunDelivery, OpenDelivery } from '../outcome/delivery.ts'
import type { Outcome } from '../outcome/outcome.ts'

/** A transport to the recipients of one message at one destination. */
export interface Route {
  readonly name: 'local' | 'outside'
  /** Whether the other side recognises a delivery, so that a repeated attempt has one effect. */
  readonly repeatable: boolean
  /** The key by which concurrency is limited; undefined where the number of workers is limit enough. */
  bottleneck(destination: string): string | undefined
  /**
   * Tries every delivery. `begin` is called before another system learns of a delivery; it commits what was reported so
   * far, and may say that a delivery is no longer to be tried. `report` is called as soon as an outcome is certain.
   * @throws when the transport itself fails (another service, the database, the blob store): nothing is decided.
   */
  attempt(mail: OutgoingMail, steps: Steps, signal: AbortSignal): Promise<void>
}

export interface OutgoingMail {
  readonly send: SendRecord
  readonly destination: string
  readonly deliveries: readonly OpenDelivery[]
}

export interface Steps {
  begin(deliveries: readonly OpenDelivery[]): Promise<BegunDelivery[]>
  report(delivery: BegunDelivery, outcome: Outcome): void
}
