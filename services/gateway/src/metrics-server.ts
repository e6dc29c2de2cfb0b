import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { Part } from '@restante/service'
import { register } from 'prom-client'

/** `/metrics` on a port of its own: the edge is public, its numbers are not. */
export class MetricsServer implements Part {
  readonly name = 'metrics'
  readonly #address: { readonly port: number; readonly host: string }
  readonly #server: Server

  constructor(address: { readonly port: number; readonly host: string }) {
    this.#address = address
    this.#server = createServer(async (request, response) => {
      if (request.url !== '/metrics') {
        response.writeHead(404).end()
        return
      }
      response.writeHead(200, { 'content-type': register.contentType }).end(await register.metrics())
    })
  }

  /** The port it listens on; differs from the configured one when that was 0. */
  get port(): number {
    const address: AddressInfo | string | null = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('The metrics server is not listening')
    return address.port
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#address.port, this.#address.host, resolve)
    })
  }

  async stop(): Promise<void> {
    const closed = promisify(this.#server.close.bind(this.#server))()
    this.#server.closeAllConnections()
    await closed
  }
}
