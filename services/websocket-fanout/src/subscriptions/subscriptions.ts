import { type CredentialRights, type EventType, maySeeOnStream, subscribedEventTypes } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'

/** One thing a subscription covers: the whole scope of the key, one pod, or one inbox. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'pod'; readonly podId: string }
  | { readonly kind: 'inbox'; readonly inboxUid: string }

/** Scope and type of an event, from its headers. */
export interface StreamEvent {
  readonly type: string
  readonly podId: string | undefined
  readonly inboxUid: string | undefined
  readonly restricted: readonly string[]
}

/** The scopes that an event lies in, widest first. */
export function scopesOf({ podId, inboxUid }: StreamEvent): string[] {
  return [
    keyOf({ kind: 'all' }),
    ...(podId === undefined ? [] : [keyOf({ kind: 'pod', podId })]),
    ...(inboxUid === undefined ? [] : [keyOf({ kind: 'inbox', inboxUid })]),
  ]
}

/** A scope as the key of a map. */
export function keyOf(scope: Scope): string {
  switch (scope.kind) {
    case 'all':
      return 'all'
    case 'pod':
      return `pod:${scope.podId}`
    case 'inbox':
      return `inbox:${scope.inboxUid}`
  }
}

/**
 * The subscriptions of one connection: the wanted types per scope, where the last `subscribe` for a scope replaces
 * earlier ones.
 */
export class Subscriptions {
  readonly #rights: CredentialRights
  /** Scope to types. */
  readonly #types = new Map<string, ReadonlySet<string>>()

  /** @param rights the permissions that the connection was opened with; they stay the same until it ends. */
  constructor(rights: CredentialRights) {
    this.#rights = rights
  }

  /**
   * Adds scopes, or replaces the type filter of existing ones; all of them or none.
   * @throws ApiError `limit_exceeded` when the connection would have too many.
   */
  add(scopes: readonly Scope[], types: readonly EventType[] | undefined): void {
    const added = scopes.map(keyOf)
    const total = new Set([...this.#types.keys(), ...added]).size
    if (total > LIMITS.stream.subscriptions) {
      throw new ApiError('limit_exceeded', {
        message: `A connection can have at most ${LIMITS.stream.subscriptions} subscriptions`,
        details: { resource: 'subscription', limit: LIMITS.stream.subscriptions },
      })
    }
    const wanted = new Set(subscribedEventTypes(types))
    for (const key of added) this.#types.set(key, wanted)
  }

  /** Removes scopes; unknown ones are ignored. */
  remove(scopes: readonly Scope[]): void {
    for (const scope of scopes) this.#types.delete(keyOf(scope))
  }

  /** Whether the connection gets the event: one copy, however many scopes match (events 5). */
  matches(event: StreamEvent): boolean {
    const wanted = scopesOf(event).some((scope) => this.#types.get(scope)?.has(event.type))
    return wanted && maySeeOnStream(this.#rights, event)
  }

  /** Its scopes, in the form of `scopesOf`. */
  get scopes(): readonly string[] {
    return [...this.#types.keys()]
  }
}
