/**
 * Something that a service is made of and that lives as long as it: a server, a consumer, a poller, a pool.
 * Parts start in the order in which they were added and stop in the opposite order.
 */
export interface Part {
  readonly name: string
  /** Resolves when the part does its work; rejects when it never will. */
  start?(): Promise<void>
  /** Resolves when the part can do its work now; rejects with the reason when it cannot. */
  ready?(): Promise<void>
  /** Finishes what was begun, takes nothing new, frees what it holds. */
  stop?(): Promise<void>
}
