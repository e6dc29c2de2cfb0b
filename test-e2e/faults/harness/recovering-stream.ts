import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamClient } from '@restante/testkit'
import type { Endpoints } from '../../stack/endpoints.ts'
import { openStream } from '../../support/streams.ts'

const RECONNECT_MS = 300

/** A subscription that is renewed whenever its connection ends, as the public clients do. */
export class RecoveringStream {
  /** Close codes of its connections. */
  readonly closes: number[] = []
  readonly #connections: StreamClient[] = []
  readonly #endpoints: Endpoints
  readonly #key: string
  #stopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(endpoints: Endpoints, key: string) {
    this.#endpoints = endpoints
    this.#key = key
  }

  start(): this {
    this.#running = this.#run()
    return this
  }

  /** Whether it is subscribed now. */
  get subscribed(): boolean {
    return this.#connections.at(-1)?.closed === undefined && this.#connections.length > 0
  }

  /** Number of connections that were subscribed so far, including the current one. */
  get connections(): number {
    return this.#connections.length
  }

  /** Events of all connections; an event that arrived twice on one connection is included twice. */
  get events(): readonly object[] {
    return this.#connections.flatMap((connection) => connection.events)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#connections.at(-1)?.close()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const connection = await openStream(this.#endpoints, this.#key).catch(() => undefined)
      if (connection) {
        this.#connections.push(connection)
        const { code } = await connection.ended({ what: 'the stream to end', timeout: 600_000, interval: 50 })
        this.closes.push(code)
      }
      await sleep(RECONNECT_MS)
    }
  }
}
