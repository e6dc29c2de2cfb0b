import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Component } from '../process/component.ts'
import type { Logger } from '../telemetry/logger.ts'

const RECONNECT_MS = 1_000
/** Keeps the loss of a silent connection from going unnoticed. */
const CHECK_MS = 5_000

export interface ChannelListenerOptions {
  readonly db: { direct(): Promise<pg.Client> }
  readonly channel: string
  /** Called at each announcement, and when listening (again) begins: something may have been missed. */
  readonly notify: () => void
  /** An notifier that rings here without NOTIFY, so that its own are not heard a second time. */
  readonly own?: { readonly origin: string }
  readonly log: Logger
}

/** Hears what announcers of other processes say, over a connection of its own that is made again when it breaks. */
export class ChannelListener implements Component {
  readonly name: string
  readonly #options: ChannelListenerOptions
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: ChannelListenerOptions) {
    this.name = `listener of ${options.channel}`
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
          'announcements are not heard; polling goes on',
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
