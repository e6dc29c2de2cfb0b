import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Component } from '../process/component.ts'
import type { Logger } from '../telemetry/logger.ts'

const RECONNECT_MS = 1_000
/** Interval of the query that detects a connection lost without notice. */
const CHECK_MS = 5_000

export interface ChannelListenerOptions {
  readonly db: { direct(): Promise<pg.Client> }
  readonly channel: string
  /** Called on each notification, and whenever listening (re)starts: a notification may have been missed before. */
  readonly notify: () => void
  /**
   * A notifier that calls this listener directly, without NOTIFY, so that its own notifications do not arrive twice.
   */
  readonly own?: { readonly origin: string }
  readonly log: Logger
}

/** Receives the notifications of other processes over a connection of its own, which is reopened when it breaks. */
export class ChannelListener implements Component {
  readonly name: string
  readonly #options: ChannelListenerOptions
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: ChannelListenerOptions) {
    this.name = `listener on ${options.channel}`
    this.#options = options
  }

  async start(): Promise<void> {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#listen()
      } catch (error) {
        this.#options.log.warn(
          { err: error, channel: this.#options.channel },
          'LISTEN connection lost, falling back to polling',
        )
      }
      await wait(RECONNECT_MS, undefined, { signal }).catch(() => {})
    }
  }

  async #listen(): Promise<void> {
    const { db, channel, notify, own } = this.#options
    const client = await db.direct()
    const lost = new AbortController()
    const { signal } = this.#stop
    const over = AbortSignal.any([signal, lost.signal])
    try {
      client.on('end', () => lost.abort())
      client.on('notification', ({ payload }) => {
        if (own === undefined || payload !== own.origin) notify()
      })
      await client.query(`listen ${client.escapeIdentifier(channel)}`)
      notify()
      while (!signal.aborted) {
        await wait(CHECK_MS, undefined, { signal: over }).catch(() => {})
        if (!signal.aborted) await client.query('select 1')
      }
    } finally {
      await client.end().catch(() => {})
    }
  }
}
