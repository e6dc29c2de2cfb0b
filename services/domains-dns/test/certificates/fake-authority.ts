import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { selfSigned } from '@restante/testkit'

/** How an order is answered. */
export type OrderAnswer = (response: ServerResponse) => void

/** An ACME authority that gives accounts and no certificates: a test decides how it answers orders. */
export class FakeAuthority {
  answer: OrderAnswer = problem(403, 'unauthorized', 'no')
  /** Requests for orders. */
  orders = 0
  readonly #server: Server
  readonly #folder: string

  private constructor(server: Server, folder: string) {
    this.#server = server
    this.#folder = folder
    server.on('request', (request, response: ServerResponse) => {
      request.resume()
      response.setHeader('replay-nonce', 'nonce')
      if (request.url === '/dir') return void response.end(JSON.stringify(this.#resources))
      if (request.url === '/nonce') return void response.end()
      if (request.url === '/account') {
        return void response.writeHead(201, { location: `${this.#url}/account/1` }).end('{"status":"valid"}')
      }
      this.orders++
      return this.answer(response)
    })
  }

  static async start(): Promise<FakeAuthority> {
    const { certificate, privateKey } = await selfSigned('localhost')
    const server = createServer({ cert: certificate, key: privateKey }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const authority = new FakeAuthority(server, await mkdtemp(path.join(tmpdir(), 'restante-authority-')))
    await writeFile(authority.caFile, certificate)
    return authority
  }

  get directory(): string {
    return `${this.#url}/dir`
  }

  get caFile(): string {
    return path.join(this.#folder, 'certificate.pem')
  }

  get #url(): string {
    const address: AddressInfo | string | null = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    return `https://localhost:${address.port}`
  }

  get #resources() {
    const to = (name: string) => `${this.#url}/${name}`
    return { newNonce: to('nonce'), newAccount: to('account'), newOrder: to('order'), revokeCert: to('revoke') }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** An answer with a problem document (RFC 8555 6.7). */
export function problem(
  status: number,
  type: string,
  detail: string,
  headers: Record<string, string> = {},
): OrderAnswer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json', ...headers })
    response.end(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail }))
  }
}
