/**
 * A part of a service that lives as long as the process: a server, a consumer, a poller, a pool. Components start in
 * the order in which they were added and stop in reverse order.
 */
export interface Component {
  readonly name: string
  /** Resolves when the component does its work; rejects when it never will. */
  start?(): Promise<void>
  /**
   * Rejects with the reason while requests must not be routed here because of this component: `/readyz` answers 503.
   */
  ready?(): Promise<void>
  /**
   * Rejects with the reason while background work is stopped but requests can still be served, such as a consumer whose
   * broker is unreachable: `/readyz` names it and stays 200, so that an outage of Kafka affects nothing else.
   */
  working?(): Promise<void>
  /** Finishes work in progress, accepts nothing new, frees its resources. */
  stop?(): Promise<void>
}
