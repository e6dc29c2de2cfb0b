import { Wakeup } from '@restante/service/concurrency'
import { ChannelListener, type Database, Notifier, retryThroughOutage } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Histogram } from 'prom-client'
import { entriesAfter, type LogEntry, lastPosition } from './store.ts'
import type { TakeOvers } from './take-overs.ts'

const delaySeconds = new Histogram({
  name: 'restante_stream_delay_seconds',
  help: 'Time from an event to its distribution to the streams and polls of this instance',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
})

/** NOTIFY channel on which growth of the log is signalled. */
const CHANNEL = 'stream_log'

/** Notifications only save time; without one the log is polled at this interval. */
const POLL_MS = 250
const BATCH = 500
/** Well below the limit of a stream's outgoing queue: a batch of the log must not make a reader look too slow. */
const BATCH_BYTES = 1024 * 1024
/** An instance without a successful read for this long is not delivering. */
const STALLED_MS = 10_000

export interface LogTailOptions {
  readonly db: Database
  readonly log: Logger
  readonly deliver: (entry: LogEntry) => void
  readonly takeOvers: TakeOvers
}

/** Follows the log from its start on and delivers each entry, in order, once. */
export class LogTail implements Component {
  readonly name = 'stream log'
  readonly #db: Database
  readonly #log: Logger
  readonly #deliver: (entry: LogEntry) => void
  readonly #takeOvers: TakeOvers
  readonly #wakeup = new Wakeup()
  readonly #listener: ChannelListener
  #position = '0'
  #lookedAt = 0
  readonly #stop = new AbortController()
  #failing = false
  #running: Promise<void> = Promise.resolve()

  readonly #notifier: Notifier

  constructor(options: LogTailOptions) {
    this.#db = options.db
    this.#log = options.log
    this.#deliver = options.deliver
    this.#takeOvers = options.takeOvers
    this.#notifier = new Notifier(options.db, CHANNEL)
    this.#listener = new ChannelListener({
      ...options,
      channel: CHANNEL,
      notify: this.#wakeup.notify,
      own: this.#notifier,
    })
  }

  /** Signals that the log has grown: directly in this instance, and to the other instances, which all follow it. */
  readonly notify = (): void => {
    this.#wakeup.notify()
    this.#notifier.notify()
  }

  /** The position up to which every entry was delivered in this instance. */
  readonly position = (): bigint => BigInt(this.#position)

  /** Waits for the database: a stream that is opened before the position is known would miss events. */
  async start(): Promise<void> {
    this.#position = await retryThroughOutage(this.#stop.signal, () => lastPosition(this.#db))
    await retryThroughOutage(this.#stop.signal, () => this.#takeOvers.load(this.#db))
    this.#lookedAt = Date.now()
    await this.#listener.start()
    this.#running = this.#follow()
  }

  async ready(): Promise<void> {
    const age = Date.now() - this.#lookedAt
    if (age > STALLED_MS) throw new Error(`the stream log was not read for ${Math.round(age / 1000)} s`)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wakeup.notify()
    await this.#running
    await this.#listener.stop()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        while (!signal.aborted && (await this.#readBatch())) {
          // There may be more entries.
        }
        this.#failing = false
      } catch (error) {
        if (!this.#failing) this.#log.warn({ err: error }, 'stream log could not be read, retrying')
        this.#failing = true
      }
      await this.#wakeup.wait(POLL_MS)
    }
  }

  /** @returns whether there may be more entries. */
  async #readBatch(): Promise<boolean> {
    const entries = await entriesAfter(this.#db, this.#position, BATCH, BATCH_BYTES)
    this.#lookedAt = Date.now()
    let size = 0
    for (const entry of entries) {
      this.#position = entry.position
      if (entry.kind === 'taken_over') this.#takeOvers.note(entry)
      this.#deliver(entry)
      if (entry.seconds !== null) delaySeconds.observe(Math.max(0, entry.seconds))
      size += entry.payload.length
    }
    // There are at most as many characters as bytes: a batch that was cut at its bytes may look smaller than it was.
    return entries.length === BATCH || size >= BATCH_BYTES / 4
  }
}
