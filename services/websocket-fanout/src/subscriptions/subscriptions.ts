import {
  type Caller,
  type EventType,
  LABEL_PERMISSIONS,
  LIMITS,
  type Permission,
  permissionsForEventTypes,
} from '@restante/contracts'
import { ApiError } from '@restante/service'

/** One thing a subscription covers: the whole scope of the key, one pod, or one inbox. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'pod'; readonly podId: string }
  | { readonly kind: 'inbox'; readonly inboxUid: string }

/** Where an event belongs and what it is, as its headers say. */
export interface StreamEvent {
  readonly type: string
  readonly podId: string | undefined
  readonly inboxUid: string | undefined
  readonly restricted: readonly string[]
}

type Rights = Pick<Caller['credential'], 'permissions'>

function holds(rights: Rights, permission: Permission): boolean {
  return rights.permissions === undefined || rights.permissions.includes(permission)
}

/**
 * Refuses the first event type that the credential may not receive (events 4).
 * @throws ApiError `missing_permission` with the message `<permission> is forbidden`.
 */
export function demandEventTypes(rights: Rights, types: readonly EventType[]): void {
  const missing = permissionsForEventTypes(types, 'stream').find((permission) => !holds(rights, permission))
  if (missing === undefined) return
  throw new ApiError('missing_permission', {
    message: `${missing} is forbidden`,
    fix: `Use a key that has ${missing}.`,
  })
}

function keyOf(scope: Scope): string {
  switch (scope.kind) {
    case 'all':
      return 'all'
    case 'pod':
      return `pod:${scope.podId}`
    case 'inbox':
      return `inbox:${scope.inboxUid}`
  }
}

/** The subscriptions of one connection: per scope the types it wants, where the last `subscribe` for a scope counts. */
export class Subscriptions {
  readonly #rights: Rights
  /** Scope to types; `undefined` is the default set. */
  readonly #types = new Map<string, ReadonlySet<string> | undefined>()

  /** @param rights the permissions that the connection was opened with; they hold until it ends. */
  constructor(rights: Rights) {
    this.#rights = rights
  }

  /**
   * Adds scopes, or replaces the type filter of those that are there; all of them or none.
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
    for (const key of added) this.#types.set(key, types && new Set(types))
  }

  /** Ends scopes; those that are not there are ignored. */
  remove(scopes: readonly Scope[]): void {
    for (const scope of scopes) this.#types.delete(keyOf(scope))
  }

  /** Whether the connection gets the event: one copy, however many scopes match (events 5). */
  matches(event: StreamEvent): boolean {
    if (this.#types.size === 0 || !this.#visible(event)) return false
    return (
      this.#wants('all', event) ||
      (event.podId !== undefined && this.#wants(`pod:${event.podId}`, event)) ||
      (event.inboxUid !== undefined && this.#wants(`inbox:${event.inboxUid}`, event))
    )
  }

  #wants(key: string, event: StreamEvent): boolean {
    if (!this.#types.has(key)) return false
    const types = this.#types.get(key)
    // Calendar events come only when named (events 5).
    return types ? types.has(event.type) : !event.type.startsWith('calendar.')
  }

  /** The same visibility as a read over REST (events 1.2 rule 2, events 4). */
  #visible(event: StreamEvent): boolean {
    if (event.type.startsWith('calendar.')) return holds(this.#rights, 'calendar_event_read')
    if (!event.type.startsWith('message.')) return true
    return holds(this.#rights, 'message_read') && event.restricted.every((label) => this.#mayRead(label))
  }

  #mayRead(label: string): boolean {
    const known = Object.entries(LABEL_PERMISSIONS).find(([name]) => name === label)
    return known === undefined || holds(this.#rights, known[1])
  }
}
