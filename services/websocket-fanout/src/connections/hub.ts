import { LIMITS } from '@restante/contracts/vocabulary'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Gauge } from 'prom-client'
import type { StreamCursors } from '../cursors/stream-cursors.ts'
import { withCursor } from '../cursors/with-cursor.ts'
import { type EdgeLeaves, readEdgeLeaves } from '../log/edge-leaves.ts'
import type { LogEntry } from '../log/store.ts'
import { readTakeOver } from '../log/take-overs.ts'
import { Audience } from '../subscriptions/audience.ts'
import { type Scope, streamEventOf } from '../subscriptions/subscriptions.ts'
import { CLOSE } from './closes/close-codes.ts'
import type { Connection } from './connection.ts'

const openStreams = new Gauge({ name: 'restante_stream_connections', help: 'Open streams of this instance' })

/** How long clients may take to answer the last close frame. */
const CLOSING_MS = 2_000

/** The open streams of one organization. */
class Members {
  /** With the timers that end them. */
  readonly timers = new Map<Connection, readonly NodeJS.Timeout[]>()
  readonly audience = new Audience<Connection>()

  get connections(): Iterable<Connection> {
    return this.timers.keys()
  }
}

/**
 * Every open stream of this instance, by organization; delivers the entries of the log and closes streams that must
 * end.
 */
export class Hub implements Component {
  readonly name = 'streams'
  /** Streams close one after another while what feeds them runs: their clients may come back until the server stops. */
  readonly stage = 'sessions'
  readonly #log: Logger
  readonly #drainMs: number
  readonly #cursors: StreamCursors
  readonly #byOrganization = new Map<string, Members>()
  #pinging: NodeJS.Timeout | undefined
  #over = false

  constructor(options: { log: Logger; drainMs: number; cursors: StreamCursors }) {
    this.#log = options.log
    this.#cursors = options.cursors
    this.#drainMs = options.drainMs
  }

  async start(): Promise<void> {
    this.#pinging = setInterval(() => {
      for (const connection of this.#all()) connection.ping()
    }, LIMITS.stream.ping)
  }

  /**
   * Asks every stream to reconnect elsewhere, spread over the drain window so that the other instances are not
   * overloaded.
   */
  async stop(): Promise<void> {
    clearInterval(this.#pinging)
    await this.#closeSpread([...this.#all()], this.#drainMs)
    // Streams opened in the meantime, and later ones, are closed at once with the same code: a refusal would end their
    // clients.
    this.#over = true
    for (const connection of this.#all()) connection.close(CLOSE.restart, 'Restarting')
    const deadline = Date.now() + CLOSING_MS
    while (this.#byOrganization.size > 0 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20))
    for (const connection of [...this.#all()]) connection.terminate()
  }

  /** Paced by the clock, not by steps: the delays of thousands of timers would add up to more than the window. */
  async #closeSpread(connections: readonly Connection[], overMs: number): Promise<void> {
    const began = performance.now()
    for (const [index, connection] of connections.entries()) {
      const wait = began + (overMs * index) / connections.length - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      connection.close(CLOSE.restart, 'Restarting')
    }
  }

  /** Adds a stream until `remove`; it is closed at its maximum age or when its key expires. */
  add(connection: Connection): void {
    const { organization_id, credential } = connection.caller
    const members = this.#byOrganization.get(organization_id) ?? new Members()
    this.#byOrganization.set(organization_id, members)
    const timers = [setTimeout(() => connection.close(CLOSE.goingAway, 'Maximum age reached'), LIMITS.stream.age)]
    if (credential.expires_at !== undefined) {
      const left = Date.parse(credential.expires_at) - Date.now()
      // A key that outlives the stream's maximum age needs no timer, and setTimeout could not hold one that long.
      if (left < LIMITS.stream.age)
        timers.push(setTimeout(() => connection.close(CLOSE.policy, 'API key expired'), left))
    }
    members.timers.set(connection, timers)
    openStreams.inc()
    if (this.#over) connection.close(CLOSE.restart, 'Restarting')
  }

  remove(connection: Connection): void {
    const members = this.#byOrganization.get(connection.caller.organization_id)
    const timers = members?.timers.get(connection)
    if (!members || !timers) return
    for (const timer of timers) clearTimeout(timer)
    members.timers.delete(connection)
    members.audience.remove(connection)
    if (members.timers.size === 0) this.#byOrganization.delete(connection.caller.organization_id)
    openStreams.dec()
  }

  /** Takes note of changed subscriptions; those of a stream that has ended are ignored. */
  readonly index = (connection: Connection): void => {
    const members = this.#byOrganization.get(connection.caller.organization_id)
    if (members?.timers.has(connection)) members.audience.set(connection, connection.scopes)
  }

  /** Closes the streams that are proxied by an edge which is shutting down. */
  async #move({ request_ids, over_ms }: EdgeLeaves): Promise<void> {
    const named = new Set(request_ids)
    const leaving = [...this.#all()].filter((connection) => named.has(connection.requestId))
    await this.#closeSpread(leaving, over_ms)
  }

  /** Ids of the credentials of all streams here, each once. */
  credentialIds(): string[] {
    return [...new Set(Array.from(this.#all(), ({ caller }) => caller.credential.id))]
  }

  /** Closes the streams of keys that no longer authenticate. */
  endCredentials(ended: ReadonlySet<string>): void {
    this.#end(this.#all(), ({ caller }) => ended.has(caller.credential.id))
  }

  /** Open streams of one organization on this instance. */
  count(organizationId: string): number {
    return this.#byOrganization.get(organizationId)?.timers.size ?? 0
  }

  /** Applies one entry of the log to the streams of this instance. */
  readonly deliver = (entry: LogEntry): void => {
    if (entry.kind === 'edge_leaves') {
      void this.#move(readEdgeLeaves(entry))
      return
    }
    const members = this.#byOrganization.get(entry.organization_id ?? '')
    if (!members) return
    switch (entry.kind) {
      case 'event':
        this.#deliverEvent(entry, members.audience)
        return
      case 'credential_ended':
        this.#end(members.connections, (connection) => connection.caller.credential.id === entry.credential_id)
        return
      case 'inbox_deleted':
        this.#forget(members, { kind: 'inbox', inboxUid: entry.inbox_uid ?? '' }, entry)
        this.#end(
          members.connections,
          ({ caller }) => caller.credential.tier === 'inbox' && caller.inbox?.uid === entry.inbox_uid,
        )
        return
      case 'pod_deleted':
        this.#forget(members, { kind: 'pod', podId: entry.pod_id ?? '' }, entry)
        this.#end(
          members.connections,
          ({ caller }) => caller.credential.tier === 'pod' && caller.pod_id === entry.pod_id,
        )
        return
      case 'taken_over': {
        const { take_overs: latest } = readTakeOver(entry)
        this.#end(members.connections, ({ caller }) => (caller.take_overs ?? 0) < latest)
        return
      }
      case 'organization_deleted':
        this.#end(members.connections, () => true)
        return
    }
  }

  /** An inbox or pod was deleted, and subscriptions with it. */
  #forget(members: Members, scope: Scope, { position }: LogEntry): void {
    for (const connection of members.connections) {
      // An organization has up to a thousand streams with a hundred subscriptions each, and may delete many inboxes at once.
      if (connection.subscriptions.remove([scope], BigInt(position))) this.index(connection)
    }
  }

  #deliverEvent(entry: LogEntry, audience: Audience<Connection>): void {
    const event = streamEventOf(entry)
    const position = BigInt(entry.position)
    const wanting = [...audience.of(event)].filter((connection) => connection.wants(event, position))
    if (wanting.length === 0) return
    const document = Buffer.from(entry.payload)
    // Streams with one scope of cursors share their document, too.
    const documents = new Map<string, Buffer>()
    const documentFor = ({ cursorScope: scope }: Connection): Buffer => {
      if (scope === undefined) return document
      const known = documents.get(scope) ?? withCursor(document, this.#cursors.seal(scope, { position }))
      documents.set(scope, known)
      return known
    }
    for (const connection of wanting) connection.deliver(documentFor(connection))
  }

  #end(connections: Iterable<Connection>, ended: (connection: Connection) => boolean): void {
    for (const connection of connections) {
      if (!ended(connection)) continue
      this.#log.info({ credential_id: connection.caller.credential.id }, 'stream closed, its key was revoked')
      connection.close(CLOSE.policy, 'API key revoked')
    }
  }

  *#all(): Iterable<Connection> {
    for (const members of this.#byOrganization.values()) yield* members.connections
  }
}
