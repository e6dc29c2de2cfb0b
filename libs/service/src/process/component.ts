/**
 * Something that a service is made of and that lives as long as it: a server, a consumer, a poller, a pool.
 * Parts start in the order in which they were added and stop in the opposite order.
 */
export interface Component {
  readonly name: string
  /** Resolves when the part does its work; rejects when it never will. */
  start?(): Promise<void>
  /** Rejects with the reason while requests must not come here because of this part: `/readyz` answers 503. */
  ready?(): Promise<void>
  /**
   * Rejects with the reason while work behind the scenes stands still but requests can be served all the same, such as
   * a consumer whose broker is away: `/readyz` names it and stays 200, so that an outage of Kafka takes nothing else along.
   */
  working?(): Promise<void>
  /** Finishes what was begun, takes nothing new, frees what it holds. */
  stop?(): Promise<void>
}
