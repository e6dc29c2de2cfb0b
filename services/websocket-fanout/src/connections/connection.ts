import type { Caller } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { within } from '@restante/service/concurrency'
import type { Logger } from '@restante/service/telemetry'
import { Counter } from 'prom-client'
import type { WebSocket } from 'ws'
import { reachOf } from '../subscriptions/reach.ts'
import { reaches, type StreamEvent, Subscriptions } from '../subscriptions/subscriptions.ts'
import { CLOSE, closesTotal } from './closes/close-codes.ts'

const framesTotal = new Counter({
  name: 'restante_stream_events_sent_total',
  help: 'Event frames handed to sockets, live or missed',
})

const FLOOD_GRACE_MS = 2_000

/** Frames of a client that wait for their answers; those after them are not read yet. */
const WAITING_FRAMES = LIMITS.stream.framesPerSecond

/** Bytes that a replay lets wait in the outgoing queue before it waits for its reader. */
const PACE_BYTES = 256 * 1024
/** Live events that are kept until the end of a replay; beyond these they are read from the log. */
const HELD_EVENTS = 200
const HELD_BYTES = 1024 * 1024

/** What happens to live events: they are sent, left to the replay that is running, or kept until it ends. */
type Delivery =
  | { readonly mode: 'live' }
  | { readonly mode: 'paused' }
  | { readonly mode: 'holding'; readonly documents: Buffer[]; bytes: number }

export interface ConnectionOptions {
  readonly socket: WebSocket
  readonly caller: Caller
  /** `X-Request-Id` of the handshake, by which the edge identifies the stream. */
  readonly requestId: string
  readonly log: Logger
  /** Answers one text frame of the client. It must not reject. */
  readonly answer: (connection: Connection, text: string) => Promise<void>
}

/** One open stream: its subscriptions, its limits, and its outgoing queue. */
export class Connection {
  readonly caller: Caller
  readonly requestId: string
  readonly log: Logger
  readonly subscriptions: Subscriptions
  /** What the cursors of its events are valid for; without it they carry none. */
  cursorScope: string | undefined
  readonly #socket: WebSocket
  readonly #options: ConnectionOptions
  #delivery: Delivery = { mode: 'live' }
  /** Frames are answered in the order of their arrival. */
  #answering: Promise<void> = Promise.resolve()
  #waitingFrames = 0
  #unreadSince: number | undefined
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
    this.log = options.log
    this.subscriptions = new Subscriptions(options.caller.credential)
    this.#socket.on('message', (data, isBinary) => this.#receive(isBinary ? '' : data.toString()))
    this.#socket.on('pong', () => {
      this.#unansweredPings = 0
    })
    this.#socket.on('error', (error) => options.log.debug({ reason: error.message }, 'stream failed'))
  }

  get isOpen(): boolean {
    return !this.#closing && this.#socket.readyState === this.#socket.OPEN
  }

  /** Whether it gets the event at this position of the log as a live one. */
  wants(event: StreamEvent, position: bigint): boolean {
    if (this.#closing || this.#delivery.mode === 'paused') return false
    return reaches(this.caller, event) && this.subscriptions.matches(event, position)
  }

  /** Sends a live event, or leaves it to the replay that is running. `document` holds the bytes, which subscribers share. */
  deliver(document: Buffer): void {
    const delivery = this.#delivery
    if (delivery.mode === 'live') {
      this.#sendEvent(document)
      return
    }
    if (delivery.mode === 'paused') return
    if (delivery.documents.length >= HELD_EVENTS || delivery.bytes >= HELD_BYTES) {
      this.#delivery = { mode: 'paused' }
      return
    }
    delivery.documents.push(document)
    delivery.bytes += document.length
  }

  /** Leaves live events to a replay, from the position on that this instance has delivered. */
  pause(): void {
    this.#delivery = { mode: 'paused' }
  }

  /** Keeps live events from here on, as many as there is room for. */
  hold(): void {
    this.#delivery = { mode: 'holding', documents: [], bytes: 0 }
  }

  /**
   * Goes live: sends a frame, and then the events that were kept.
   * @returns false when there were too many of them: they are to be read from the log.
   */
  release(frame: Readonly<Record<string, unknown>>): boolean {
    const delivery = this.#delivery
    if (delivery.mode !== 'holding') return false
    this.#delivery = { mode: 'live' }
    this.send(frame)
    for (const document of delivery.documents) this.#sendEvent(document)
    return true
  }

  /** Sends a missed event, and waits while its reader has much to read; one that does not read is closed. */
  async sendPaced(document: Buffer): Promise<void> {
    const { promise: written, resolve } = Promise.withResolvers<void>()
    if (!this.#sendEvent(document, resolve) || this.#socket.bufferedAmount <= PACE_BYTES) return
    await within(LIMITS.stream.replayStall, written, () => this.close(CLOSE.overload, 'Reading too slowly'))
  }

  #sendEvent(document: Buffer, written: () => void = () => {}): boolean {
    if (this.#closing || this.#overloaded()) return false
    this.#waitingEvents++
    framesTotal.inc()
    this.#socket.send(document, { binary: false }, () => {
      this.#waitingEvents--
      written()
    })
    return true
  }

  /** The scopes from which it may want events. "All" is what its key reaches. */
  get scopes(): readonly string[] {
    return reachOf(this.caller, this.subscriptions.scopes)
  }

  /** Sends a ping, and ends a connection that has not answered for two rounds. Of one that is not read no answer is known. */
  ping(): void {
    if (this.#unreadSince !== undefined) return
    if (this.#unansweredPings >= LIMITS.stream.unansweredPings) {
      this.#socket.terminate()
      return
    }
    this.#unansweredPings++
    this.#socket.ping()
  }

  /** Closes with a code and reason; the library disconnects a client that does not answer within 30 s. */
  close(code: number, reason: string): void {
    if (!this.#closing) closesTotal.inc({ code })
    this.#closing = true
    // Its answer must be read.
    this.#readOn()
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
    const left = this.#allowance.frames
    const refilled = left + ((now - this.#allowance.at) / 1000) * framesPerSecond
    // After a time in which nothing was read, more may be left than a second's frames.
    this.#allowance = { frames: Math.min(refilled, Math.max(framesPerSecond, left)) - frames, at: now }
    if (this.#allowance.frames < 0) this.#endFlood()
  }

  #receive(text: string): void {
    if (this.#closing) return
    this.#waitingFrames++
    // A replay may take minutes: frames that the client may send meanwhile wait where they are.
    if (this.#waitingFrames >= WAITING_FRAMES) this.#stopReading()
    this.#answering = this.#answering
      .then(() => this.#options.answer(this, text))
      .finally(() => {
        this.#waitingFrames--
        if (this.#waitingFrames < WAITING_FRAMES) this.#readOn()
      })
  }

  #stopReading(): void {
    this.#unreadSince ??= Date.now()
    this.#socket.pause()
  }

  /** What has arrived since reading stopped comes at once, and was sent in that time. */
  #readOn(): void {
    if (this.#unreadSince === undefined) return
    const seconds = (Date.now() - this.#unreadSince) / 1_000
    this.#allowance.frames += seconds * LIMITS.stream.framesPerSecond
    this.#unreadSince = undefined
    this.#socket.resume()
  }

  /** Closes, and discards further frames for as long as the client may take to see the close, and no longer. */
  #endFlood(): void {
    this.close(CLOSE.policy, 'Too many frames')
    const cut = setTimeout(() => this.#socket.terminate(), FLOOD_GRACE_MS)
    this.#socket.once('close', () => clearTimeout(cut))
  }

  /** Sends a frame that is not an event. */
  send(frame: Readonly<Record<string, unknown>>): void {
    if (this.#closing || this.#overloaded()) return
    this.#socket.send(JSON.stringify(frame), () => {})
  }
}
