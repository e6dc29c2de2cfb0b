import { setTimeout as sleep } from 'node:timers/promises'
import { StreamClient } from '@restante/testkit'
import type { Endpoints } from '../../stack/endpoints.ts'

const RETRY_MS = 200

/** Where the API is. */
type Reachable = Pick<Endpoints, 'gatewayUrl' | 'streamUrl'>

/** A client that keeps the cursor of the last event it has got, and continues from there after every break. */
export abstract class Follower {
  readonly events: object[] = []
  protected cursor: string | undefined
  protected readonly endpoints: Reachable
  protected readonly headers: Readonly<Record<string, string>>
  #stopped = false
  #running: Promise<void> = Promise.resolve()
  /** How often its connection broke, or its request failed. */
  breaks = 0

  constructor(endpoints: Reachable, key: string) {
    this.endpoints = endpoints
    this.headers = { authorization: `Bearer ${key}` }
  }

  start(): this {
    this.#running = this.#run()
    return this
  }

  /** Whether it gets everything from now on. */
  get follows(): boolean {
    return this.cursor !== undefined
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.interrupt()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.follow()
      } catch {
        this.breaks++
        await sleep(RETRY_MS)
      }
    }
  }

  /** Takes events until something fails. */
  protected abstract follow(): Promise<void>
  protected abstract interrupt(): Promise<void>

  protected take(event: Readonly<Record<string, unknown>>): void {
    this.events.push(event)
  }
}

/** Follows over a WebSocket, with `resume_from`. */
export class ResumingStream extends Follower {
  #connection: StreamClient | undefined

  protected async follow(): Promise<void> {
    const connection = await StreamClient.open(this.endpoints.streamUrl, { headers: this.headers })
    this.#connection = connection
    connection.listen((frame) => {
      if (frame['type'] === 'event') this.take(frame)
      const { cursor } = frame
      if (typeof cursor === 'string') this.cursor = cursor
    })
    connection.send({ type: 'subscribe', cursors: true, ...(this.cursor && { resume_from: this.cursor }) })
    await connection.ended({ what: 'the stream to end', timeout: 600_000, interval: 20 })
    throw new Error('the stream ended')
  }

  protected async interrupt(): Promise<void> {
    await this.#connection?.close()
  }
}

/** Follows by polling. */
export class Poller extends Follower {
  readonly #stop = new AbortController()

  protected async follow(): Promise<void> {
    const query = this.cursor === undefined ? '' : `?${new URLSearchParams({ cursor: this.cursor, wait: '5' })}`
    const url = `${this.endpoints.gatewayUrl}/v0/stream/poll${query}`
    const response = await fetch(url, { headers: this.headers, signal: this.#stop.signal })
    const answer: { events: Record<string, unknown>[]; cursor: string } = JSON.parse(await response.text())
    if (!response.ok) throw new Error(`the poll was answered with ${response.status}`)
    for (const event of answer.events) this.take(event)
    this.cursor = answer.cursor
  }

  protected async interrupt(): Promise<void> {
    this.#stop.abort()
  }
}
