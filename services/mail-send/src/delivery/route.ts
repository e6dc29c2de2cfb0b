import type { BegunDelivery } from './delivery.ts'
import type { OpenDelivery, SendRecord } from './store.ts'
import type { Outcome } from './verdict.ts'

/** A way to recipients of one message at one destination. */
export interface Route {
  readonly name: 'local' | 'outside'
  /** Whether the other side knows a delivery again, so that trying it twice has one effect. */
  readonly repeatable: boolean
  /** What concurrency is counted by; undefined where the number of workers is limit enough. */
  bottleneck(destination: string): string | undefined
  /**
   * Tries every delivery. `begin` is called before anybody hears of one, commits what was reported so far, and may say
   * that a delivery is no longer to be tried; `report` as soon as an outcome is certain.
   * @throws when the way itself is out of order (a peer of ours, the database, the blob store): nothing is decided.
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
