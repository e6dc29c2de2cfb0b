import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { selfSigned } from './self-signed.ts'

/** A web server with a certificate of its own, which serves the MTA-STS policy of a domain (RFC 8461 3.3). */
export class PolicyHost {
  /** What it serves; undefined: 404. */
  policy: string | undefined
  contentType = 'text/plain'
  /** Requests for the policy. */
  requests = 0
  readonly #domain: string
  #server: Server | undefined
  #certificate = ''

  /** @param domain that the policy is about. The host is `mta-sts.<domain>`. */
  constructor(domain: string) {
    this.#domain = domain
  }

  /** PEM; clients that trust it as an authority accept the host. */
  get certificate(): string {
    return this.#certificate
  }

  get port(): number {
    const address: AddressInfo | string | null | undefined = this.#server?.address()
    if (typeof address !== 'object' || address === null) throw new Error('not listening on a port')
    return address.port
  }

  async start(): Promise<this> {
    const { certificate, privateKey } = await selfSigned(`mta-sts.${this.#domain}`)
    this.#certificate = certificate
    this.#server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
      this.requests++
      const found = request.url === '/.well-known/mta-sts.txt' && this.policy !== undefined
      response.writeHead(found ? 200 : 404, { 'content-type': this.contentType }).end(found ? this.policy : '')
    })
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((resolve) => (this.#server ? this.#server.close(resolve) : resolve(undefined)))
  }
}
