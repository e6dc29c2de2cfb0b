import {
  type Caller,
  type CredentialRights,
  type EventType,
  maySeeOnStream,
  subscribedEventTypes,
} from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'

/** One thing a subscription covers: the whole scope of the request, one pod, or one inbox. */
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

/** The same of an entry or a head of the log. */
export function streamEventOf(entry: {
  readonly type: string | null
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly restricted: readonly string[]
}): StreamEvent {
  return {
    type: entry.type ?? '',
    podId: entry.pod_id ?? undefined,
    inboxUid: entry.inbox_uid ?? undefined,
    restricted: entry.restricted,
  }
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
 * The effective scope of a request: the inbox or pod that its path names, and otherwise what its key reaches. The path of
 * a stream names none. A key of an inbox or pod never has more than that, even if its caller lacked the id.
 */
export function scopeOf({ credential: { tier }, pod_id, inbox }: Caller): Scope {
  if (inbox !== undefined || tier === 'inbox') return { kind: 'inbox', inboxUid: inbox?.uid ?? '' }
  if (pod_id !== undefined || tier === 'pod') return { kind: 'pod', podId: pod_id ?? '' }
  return { kind: 'all' }
}

/** Whether the scope of a request holds an event: no subscription or poll reaches beyond it. */
export function reaches(caller: Caller, event: StreamEvent): boolean {
  const scope = scopeOf(caller)
  switch (scope.kind) {
    case 'all':
      return true
    case 'pod':
      return event.podId === scope.podId
    case 'inbox':
      return event.inboxUid === scope.inboxUid
  }
}

/** Since when a subscription is in force, and from where on it gets events: positions of the log. */
export interface Since {
  readonly subscribedAt: bigint
  /** Before `subscribedAt` where the client resumes; the events in between are replayed. */
  readonly after: bigint
}

interface Covered {
  readonly types: ReadonlySet<string>
  readonly after: bigint
}

/** What a subscription that has ended had covered. */
interface Ended extends Covered {
  readonly scope: string
  readonly through: bigint
}

/** Ended subscriptions that a connection remembers. */
const MOST_ENDED = 200

/**
 * The subscriptions of one connection: the wanted types per scope, where the last `subscribe` for a scope replaces
 * earlier ones. It knows which positions of the log each one has covered, so that an event which is replayed for one
 * subscription is not sent again when the connection got it for another.
 */
export class Subscriptions {
  readonly #rights: CredentialRights
  readonly #current = new Map<string, Covered>()
  #ended: Ended[] = []
  /** Up to here ended subscriptions may have been forgotten. */
  #forgottenThrough = -1n

  /** @param rights the permissions that the connection was opened with; they stay the same until it ends. */
  constructor(rights: CredentialRights) {
    this.#rights = rights
  }

  /**
   * Adds scopes, or replaces the type filter of existing ones; all of them or none.
   * @throws ApiError `limit_exceeded` when the connection would have too many.
   */
  add(scopes: readonly Scope[], types: readonly EventType[] | undefined, { subscribedAt, after }: Since): void {
    const added = scopes.map(keyOf)
    const total = new Set([...this.#current.keys(), ...added]).size
    if (total > LIMITS.stream.subscriptions) {
      throw new ApiError('limit_exceeded', {
        message: `A connection can have at most ${LIMITS.stream.subscriptions} subscriptions`,
        details: { resource: 'subscription', limit: LIMITS.stream.subscriptions },
      })
    }
    if (after < this.#forgottenThrough) {
      throw new ApiError('limit_exceeded', {
        message: 'This connection has had too many subscriptions to resume another',
        fix: 'Resume on a new connection.',
      })
    }
    const wanted = new Set(subscribedEventTypes(types))
    for (const key of added) {
      this.#end(key, subscribedAt)
      this.#current.set(key, { types: wanted, after })
    }
  }

  /**
   * Removes scopes; unknown ones are ignored.
   * @param at the position up to which they have got events.
   * @returns whether one of them existed.
   */
  remove(scopes: readonly Scope[], at: bigint): boolean {
    const before = this.#current.size
    for (const key of scopes.map(keyOf)) this.#end(key, at)
    return this.#current.size < before
  }

  #end(scope: string, through: bigint): void {
    const ended = this.#current.get(scope)
    if (ended === undefined) return
    this.#current.delete(scope)
    this.#ended.push({ ...ended, scope, through })
    if (this.#ended.length <= MOST_ENDED) return
    const [oldest, ...others] = this.#ended
    this.#ended = others
    if (oldest !== undefined && oldest.through > this.#forgottenThrough) this.#forgottenThrough = oldest.through
  }

  /** Whether the connection gets the event: one copy, however many scopes match (events 5). */
  matches(event: StreamEvent, position: bigint): boolean {
    return this.#isCovered(event, position) && maySeeOnStream(this.#rights, event)
  }

  /** Whether the connection got the event for others than these scopes, which resume. */
  matchedWithout(resumed: ReadonlySet<string>, event: StreamEvent, position: bigint): boolean {
    const scopes = new Set(scopesOf(event))
    const covers = ({ scope, types, after, through }: Ended): boolean =>
      scopes.has(scope) && types.has(event.type) && after < position && position <= through
    return this.#isCovered(event, position, resumed) || this.#ended.some(covers)
  }

  #isCovered(event: StreamEvent, position: bigint, except?: ReadonlySet<string>): boolean {
    return scopesOf(event).some((scope) => {
      const covered = except?.has(scope) ? undefined : this.#current.get(scope)
      return covered?.types.has(event.type) === true && position > covered.after
    })
  }

  /** Its scopes, in the form of `scopesOf`. */
  get scopes(): readonly string[] {
    return [...this.#current.keys()]
  }
}
