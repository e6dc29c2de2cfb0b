import type { Caller } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError, notFound } from '@restante/service/errors'
import { requireEventTypes } from '@restante/service/identity'
import type { Logger } from '@restante/service/telemetry'
import type { WebSocket } from 'ws'
import { readFrame } from '../subscriptions/frames.ts'
import type { Resolved } from '../subscriptions/resolve.ts'
import { keyOf, type Scope, type StreamEvent, Subscriptions } from '../subscriptions/subscriptions.ts'

/** Close codes of the server. Never 1000: clients take it as final and do not reconnect (events 6.4). */
export const CLOSE = {
  goingAway: 1001,
  policy: 1008,
  internal: 1011,
  restart: 1012,
  overload: 1013,
} as const

const FLOOD_GRACE_MS = 2_000

/** Resolves the ids of a frame within what the caller may see, with one request for all of them. */
export type ResolveScopes = (
  caller: Caller,
  ids: { inboxIds: readonly string[]; podIds: readonly string[] },
) => Promise<Resolved>

export interface ConnectionOptions {
  readonly socket: WebSocket
  readonly caller: Caller
  /** `X-Request-Id` of the handshake, by which the edge identifies the stream. */
  readonly requestId: string
  readonly log: Logger
  readonly docsUrl: string
  readonly resolve: ResolveScopes
  /** Called when its subscriptions have changed. */
  readonly onSubscribed: (connection: Connection) => void
}

/** One open stream: its subscriptions, its limits, and its outgoing queue. */
export class Connection {
  readonly caller: Caller
  readonly requestId: string
  readonly #socket: WebSocket
  readonly #options: ConnectionOptions
  readonly #subscriptions: Subscriptions
  /** Frames are answered in the order of their arrival. */
  #answering: Promise<void> = Promise.resolve()
  #waitingFrames = 0
  #waitingEvents = 0
  /** Frames that may arrive now, and the time of that count; it is refilled at the allowed rate. */
  #allowance: { frames: number; at: number } = { frames: LIMITS.stream.framesPerSecond, at: Date.now() }
  #unansweredPings = 0
  #closing = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#socket = options.socket
    this.caller = options.caller
    this.requestId = options.requestId
    this.#subscriptions = new Subscriptions(options.caller.credential)
    this.#socket.on('message', (data, isBinary) => this.#receive(isBinary ? '' : data.toString()))
    this.#socket.on('pong', () => {
      this.#unansweredPings = 0
    })
    this.#socket.on('error', (error) => options.log.debug({ reason: error.message }, 'stream failed'))
  }

  /** Whether a subscription covers the event. */
  wants(event: StreamEvent): boolean {
    return !this.#closing && this.#subscriptions.matches(event)
  }

  /** Sends an event. `document` holds the bytes, which all subscribers share. @returns whether it was sent. */
  deliver(document: Buffer): boolean {
    if (this.#closing || this.#overloaded()) return false
    this.#waitingEvents++
    this.#socket.send(document, { binary: false }, () => {
      this.#waitingEvents--
    })
    return true
  }

  /** The scopes from which it may want events. "All" is what its key reaches. */
  get scopes(): readonly string[] {
    const { credential, pod_id: podId = '', inbox } = this.caller
    const all = keyOf({ kind: 'all' })
    const reach = {
      organization: all,
      pod: keyOf({ kind: 'pod', podId }),
      inbox: keyOf({ kind: 'inbox', inboxUid: inbox?.uid ?? '' }),
    }
    return [...new Set(this.#subscriptions.scopes.map((scope) => (scope === all ? reach[credential.tier] : scope)))]
  }

  /** An inbox or pod was deleted, and its subscription with it. */
  forget(scope: Scope): void {
    this.#subscriptions.remove([scope])
    this.#options.onSubscribed(this)
  }

  /** Sends a ping, and ends a connection that has not answered for two rounds. */
  ping(): void {
    if (this.#unansweredPings >= LIMITS.stream.unansweredPings) {
      this.#socket.terminate()
      return
    }
    this.#unansweredPings++
    this.#socket.ping()
  }

  /** Closes with a code and reason; the library disconnects a client that does not answer within 30 s. */
  close(code: number, reason: string): void {
    this.#closing = true
    this.#socket.close(code, reason)
  }

  /** Ends the connection without a close handshake. */
  terminate(): void {
    this.#socket.terminate()
  }

  /** Bounded memory: a reader that does not keep up must reconcile over REST (events 6.4). */
  #overloaded(): boolean {
    const { waitingBytes, waitingEvents } = LIMITS.stream
    if (this.#socket.bufferedAmount <= waitingBytes && this.#waitingEvents < waitingEvents) return false
    this.close(CLOSE.overload, 'Reading too slowly')
    return true
  }

  /**
   * Counts received frames of any kind: control frames and fragments of a message cost work like others. Exceeding the
   * allowed rate ends the stream (events 6.4), and frames received by then are not answered.
   */
  count(frames: number): void {
    if (this.#closing) return
    const { framesPerSecond } = LIMITS.stream
    const now = Date.now()
    const refilled = this.#allowance.frames + ((now - this.#allowance.at) / 1000) * framesPerSecond
    this.#allowance = { frames: Math.min(refilled, framesPerSecond) - frames, at: now }
    if (this.#allowance.frames < 0) this.#endFlood()
  }

  #receive(text: string): void {
    if (this.#closing) return
    if (this.#waitingFrames >= LIMITS.stream.framesPerSecond) {
      this.#endFlood()
      return
    }
    this.#waitingFrames++
    this.#answering = this.#answering
      .then(() => this.#answer(text))
      .finally(() => {
        this.#waitingFrames--
      })
  }

  /** Closes, and discards further frames for as long as the client may take to see the close, and no longer. */
  #endFlood(): void {
    this.close(CLOSE.policy, 'Too many frames')
    const cut = setTimeout(() => this.#socket.terminate(), FLOOD_GRACE_MS)
    this.#socket.once('close', () => clearTimeout(cut))
  }

  async #answer(text: string): Promise<void> {
    try {
      const frame = readFrame(text)
      if (frame.type === 'foreign') {
        this.#send({ message: 'Forbidden' })
        return
      }
      const { inboxIds, podIds, given } = frame
      const echo = { organization_id: this.caller.organization_id, ...given }
      if (frame.type === 'unsubscribe') {
        this.#subscriptions.remove(await this.#known(inboxIds, podIds))
        this.#options.onSubscribed(this)
        this.#send({ type: 'unsubscribed', ...echo })
        return
      }
      if (frame.eventTypes) requireEventTypes(this.caller.credential, frame.eventTypes, 'stream')
      this.#subscriptions.add(await this.#scopes(inboxIds, podIds), frame.eventTypes)
      this.#options.onSubscribed(this)
      this.#send({ type: 'subscribed', ...echo })
    } catch (error) {
      this.#refuse(error)
    }
  }

  async #scopes(
    inboxIds: readonly string[] | undefined,
    podIds: readonly string[] | undefined,
  ): Promise<readonly Scope[]> {
    if (!inboxIds && !podIds) return [{ kind: 'all' }]
    if (podIds && this.caller.credential.tier === 'inbox') {
      throw new ApiError('forbidden', { fix: 'A key of an inbox can name its own inbox only.' })
    }
    const { scopes, missing } = await this.#resolve(inboxIds, podIds)
    if (missing !== undefined) throw notFound(missing)
    return scopes
  }

  /** The scopes that `unsubscribe` names; scopes that do not exist (any more) are ignored one by one. */
  async #known(
    inboxIds: readonly string[] | undefined,
    podIds: readonly string[] | undefined,
  ): Promise<readonly Scope[]> {
    if (!inboxIds && !podIds) return [{ kind: 'all' }]
    return (await this.#resolve(inboxIds, podIds)).scopes
  }

  /** One request at a time, since frames are answered in order: the rate limit of frames also bounds these requests. */
  #resolve(inboxIds: readonly string[] = [], podIds: readonly string[] = []): Promise<Resolved> {
    return this.#options.resolve(this.caller, { inboxIds, podIds })
  }

  /** The connection stays open after any error, so that the client can correct itself (events 6.3). */
  #refuse(error: unknown): void {
    const refusal = error instanceof ApiError ? error : new ApiError('internal_error', { cause: error })
    if (refusal.status >= 500) this.#options.log.error({ err: error }, 'frame failed')
    this.#send({ type: 'error', ...refusal.body(this.#options.docsUrl) })
  }

  #send(frame: Record<string, unknown>): void {
    if (this.#closing || this.#overloaded()) return
    this.#socket.send(JSON.stringify(frame), () => {})
  }
}
