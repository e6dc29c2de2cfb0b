import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** How an endpoint answers: with a status, after a time in milliseconds. */
export interface Behaviour {
  readonly status: number
  readonly afterMs?: number
}

/** A receiver of webhooks that counts requests and keeps none, so that it may get any number. */
export class Endpoint {
  /** How often each delivery was requested, by its id. */
  readonly requests = new Map<string, number>()
  /** Requests that were answered. */
  answered = 0
  /** The most requests that were open at the same time. */
  mostOpen = 0
  #open = 0
  #behaviour: Behaviour
  readonly #server: Server

  constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour
    this.#server = createServer(async (request, response) => {
      this.mostOpen = Math.max(this.mostOpen, ++this.#open)
      response.once('close', () => this.#open--)
      const id = String(request.headers['svix-id'])
      this.requests.set(id, (this.requests.get(id) ?? 0) + 1)
      request.resume()
      const { afterMs } = this.#behaviour
      if (afterMs !== undefined) await sleep(afterMs, undefined, { ref: false })
      this.answered++
      response.writeHead(this.#behaviour.status).end()
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    return `http://127.0.0.1:${address.port}/hook`
  }

  /** From the next answer on. */
  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
