/**
 * The stages in which the components of a service start, one after the other; they stop in the opposite order.
 *
 * - `base`: what everything else stands on: metrics, the database, the relay of events, clients of other services. The
 *   relay stops after whatever raises events, so that it publishes the last of them.
 * - `own`: the service's own components, in the order in which they were added.
 * - `work`: consumers and timers. Their handlers use the service's own components, so these stop later. They stop
 *   together, because a consumer waits for the brokers' answer to its last fetch, half a second.
 * - `front`: servers. Requests come in when everything that answers them runs, and stop first.
 * - `sessions`: what lives on the connections of a server and has to end before the server stops: open streams.
 */
export const STAGES = ['base', 'own', 'work', 'front', 'sessions'] as const
export type Stage = (typeof STAGES)[number]

/**
 * A part of a service that lives as long as the process: a server, a consumer, a poller, a pool. Components start stage
 * by stage, and within a stage in the order in which they were added; they stop in reverse order,
 * those of the stage `work` together.
 */
export interface Component {
  readonly name: string
  /** When it starts and stops. Default: `own`. */
  readonly stage?: Stage
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
