import { type StreamEvent, scopesOf } from './subscriptions.ts'

/**
 * The subscribers of one organization by scope, so that an event costs as much as it has subscribers, however many others
 * there are.
 */
export class Audience<Subscriber> {
  readonly #byScope = new Map<string, Set<Subscriber>>()
  readonly #scopes = new Map<Subscriber, readonly string[]>()

  /** Replaces the scopes of a subscriber. */
  set(subscriber: Subscriber, scopes: readonly string[]): void {
    this.remove(subscriber)
    this.#scopes.set(subscriber, scopes)
    for (const scope of scopes) {
      const subscribers = this.#byScope.get(scope)
      if (subscribers) subscribers.add(subscriber)
      else this.#byScope.set(scope, new Set([subscriber]))
    }
  }

  remove(subscriber: Subscriber): void {
    for (const scope of this.#scopes.get(subscriber) ?? []) {
      const subscribers = this.#byScope.get(scope)
      subscribers?.delete(subscriber)
      if (subscribers?.size === 0) this.#byScope.delete(scope)
    }
    this.#scopes.delete(subscriber)
  }

  /** Everyone who has subscribed to a scope of the event, each once. */
  of(event: StreamEvent): ReadonlySet<Subscriber> {
    const found = scopesOf(event).flatMap((scope) => this.#byScope.get(scope) ?? [])
    const [only] = found
    return only && found.length === 1 ? only : new Set(found.flatMap((subscribers) => [...subscribers]))
  }
}
