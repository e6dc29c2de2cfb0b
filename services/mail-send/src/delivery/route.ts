import type { BegunDelivery } from './delivery.ts'
import type { OpenDelivery, SendRecord } from './store.ts'
import type { Outcome } from './verdict.ts'

/** A way to recipients of one message at one destination. */
export interface Route {
  readonly name: 'local' | 'outside'
  /** What concurrency is counted by. */
  bottleneck(destination: string): string
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
