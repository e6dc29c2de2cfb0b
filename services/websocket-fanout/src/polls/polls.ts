import type { Caller } from '@restante/contracts/access'
import { ApiError, notFound } from '@restante/service/errors'
import type { Component } from '@restante/service/process'
import { Gauge } from 'prom-client'
import { readEdgeLeaves } from '../log/edge-leaves.ts'
import type { LogEntry } from '../log/store.ts'
import { readTakeOver } from '../log/take-overs.ts'
import { scopeOf, streamEventOf } from '../subscriptions/subscriptions.ts'
import { type WaitingOptions, WaitingPoll } from './waiting.ts'

const waitingPolls = new Gauge({ name: 'restante_stream_polls', help: 'Polls that wait for events in this instance' })

/** The polls that wait in this instance, by organization: entries of the log wake or end them. */
export class Polls implements Component {
  readonly name = 'polls'
  readonly stage = 'sessions'
  readonly #byOrganization = new Map<string, Set<WaitingPoll>>()
  readonly #byKey = new Map<string, WaitingPoll>()
  #isOver = false

  /** Every poll is answered at once with what it has; the client's next one goes to another instance. */
  async stop(): Promise<void> {
    this.#isOver = true
    for (const poll of this.#all()) poll.finish()
  }

  /**
   * Lets a poll wait until `remove`. One that waits with the same cursor is ended: its client has most likely lost the
   * connection and come back.
   */
  add(options: WaitingOptions): WaitingPoll {
    const poll = new WaitingPoll(options)
    this.#byKey.get(poll.key)?.end(
      new ApiError('conflict', {
        message: 'Another poll with this cursor has begun',
        fix: 'Poll with one request at a time for each cursor.',
      }),
    )
    this.#byKey.set(poll.key, poll)
    const { organization_id: id } = poll.caller
    const others = this.#byOrganization.get(id) ?? new Set()
    this.#byOrganization.set(id, others.add(poll))
    waitingPolls.inc()
    if (this.#isOver) poll.finish()
    return poll
  }

  remove(poll: WaitingPoll): void {
    const { organization_id: id } = poll.caller
    const others = this.#byOrganization.get(id)
    if (others?.delete(poll)) waitingPolls.dec()
    if (others?.size === 0) this.#byOrganization.delete(id)
    if (this.#byKey.get(poll.key) === poll) this.#byKey.delete(poll.key)
  }

  /** Polls of one organization that wait here. */
  count(organizationId: string): number {
    return this.#byOrganization.get(organizationId)?.size ?? 0
  }

  /** Ids of the credentials of all polls here, each once. */
  credentialIds(): string[] {
    return [...new Set(Array.from(this.#all(), ({ caller }) => caller.credential.id))]
  }

  /** Ends the polls of keys that no longer authenticate, as a request with such a key is refused. */
  endCredentials(ended: ReadonlySet<string>): void {
    for (const poll of this.#all()) if (ended.has(poll.caller.credential.id)) poll.end(endedKey(poll.caller))
  }

  *#all(): Iterable<WaitingPoll> {
    for (const polls of this.#byOrganization.values()) yield* polls
  }

  /** Applies one entry of the log to the polls of this instance. */
  readonly deliver = (entry: LogEntry): void => {
    if (entry.kind === 'edge_leaves') {
      const leaving = new Set(readEdgeLeaves(entry).request_ids)
      for (const poll of this.#all()) if (leaving.has(poll.requestId)) poll.finish()
      return
    }
    const polls = this.#byOrganization.get(entry.organization_id ?? '')
    if (polls === undefined) return
    if (entry.kind === 'event') {
      const event = streamEventOf(entry)
      for (const poll of polls) if (poll.matches(event)) poll.wake()
      return
    }
    endWith(entry, polls)
  }
}

/** Which callers have no key any more since an entry. */
function keysEndedBy(entry: LogEntry): (caller: Caller) => boolean {
  switch (entry.kind) {
    case 'credential_ended':
      return ({ credential }) => credential.id === entry.credential_id
    case 'inbox_deleted':
      return ({ credential, inbox }) => credential.tier === 'inbox' && inbox?.uid === entry.inbox_uid
    case 'pod_deleted':
      return ({ credential, pod_id }) => credential.tier === 'pod' && pod_id === entry.pod_id
    case 'organization_deleted':
      return () => true
    case 'taken_over': {
      const { take_overs: latest } = readTakeOver(entry)
      return ({ take_overs = 0 }) => take_overs < latest
    }
    default:
      return () => false
  }
}

/** The kind of resource that an entry has deleted and a caller with a wider key named. */
function missingSince(entry: LogEntry, caller: Caller): 'Inbox' | 'Pod' | undefined {
  const scope = scopeOf(caller)
  if (entry.kind === 'inbox_deleted' && scope.kind === 'inbox' && scope.inboxUid === entry.inbox_uid) return 'Inbox'
  if (entry.kind === 'pod_deleted' && scope.kind === 'pod' && scope.podId === entry.pod_id) return 'Pod'
  return undefined
}

/** Ends the polls whose key has ended with an entry, or the inbox or pod in whose events they wait. */
function endWith(entry: LogEntry, polls: Iterable<WaitingPoll>): void {
  const hasNoKey = keysEndedBy(entry)
  for (const poll of polls) {
    const missing = missingSince(entry, poll.caller)
    if (hasNoKey(poll.caller)) poll.end(endedKey(poll.caller))
    else if (missing !== undefined) poll.end(notFound(missing))
  }
}

/** The error of a request with a key that has ended. */
function endedKey({ credential: { expires_at } }: Caller): ApiError {
  const hasExpired = expires_at !== undefined && Date.parse(expires_at) <= Date.now()
  return new ApiError(hasExpired ? 'api_key_expired' : 'unknown_api_key')
}
