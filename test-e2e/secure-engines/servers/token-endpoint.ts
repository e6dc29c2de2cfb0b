import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { type CertificateFiles, HOST } from './certificates.ts'

const KEY_ID = 'test'
/** What its tokens are for. */
export const AUDIENCE = 'kafka'

/** An OAuth authorization server: a token endpoint over TLS, and its public keys for the brokers. */
export class TokenEndpoint {
  /** Requests for tokens, by what was answered. */
  readonly answers: { readonly status: number; readonly scope: string | undefined }[] = []
  /** Lifetime of its tokens. */
  lifetimeSeconds = 300
  readonly #clients: Readonly<Record<string, string>>
  #keys: Awaited<ReturnType<typeof generateKeyPair>> | undefined
  readonly #servers: ReturnType<typeof createHttp>[] = []
  #ports = { tokens: 0, keys: 0 }

  /** @param clients secrets by client id. */
  constructor(clients: Readonly<Record<string, string>>) {
    this.#clients = clients
  }

  async start(certificate: CertificateFiles): Promise<this> {
    this.#keys = await generateKeyPair('RS256')
    const [cert, key] = await Promise.all([readFile(certificate.certificate), readFile(certificate.key)])
    const tokens = createServer({ cert, key }, (request, response) => void this.#token(request, response))
    const keys = createHttp((_, response) => void this.#publicKeys(response))
    for (const server of [tokens, keys]) await once(server.listen(0, '127.0.0.1'), 'listening')
    this.#servers.push(tokens, keys)
    this.#ports = { tokens: portOf(tokens.address()), keys: portOf(keys.address()) }
    return this
  }

  /** Where clients ask for tokens. */
  get url(): string {
    return `https://${HOST}:${this.#ports.tokens}/token`
  }

  /** Where brokers read the public keys. */
  get keysUrl(): string {
    return `http://127.0.0.1:${this.#ports.keys}/keys`
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }

  async #publicKeys(response: ServerResponse): Promise<void> {
    if (this.#keys === undefined) throw new Error('it is not started')
    const jwk = await exportJWK(this.#keys.publicKey)
    answer(response, 200, { keys: [{ ...jwk, kid: KEY_ID, alg: 'RS256', use: 'sig' }] })
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#keys === undefined) throw new Error('it is not started')
    const form = new URLSearchParams(await text(request))
    const scope = form.get('scope') ?? undefined
    const client = this.#clientOf(request.headers.authorization)
    if (client === undefined || form.get('grant_type') !== 'client_credentials') {
      this.answers.push({ status: 401, scope })
      return answer(response, 401, { error: 'invalid_client', error_description: 'the client is unknown' })
    }
    const token = await new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', kid: KEY_ID })
      .setSubject(client)
      .setIssuer(this.url)
      .setAudience(AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(`${this.lifetimeSeconds} s`)
      .sign(this.#keys.privateKey)
    this.answers.push({ status: 200, scope })
    answer(response, 200, { access_token: token, token_type: 'Bearer', expires_in: this.lifetimeSeconds })
  }

  #clientOf(authorization = ''): string | undefined {
    const [, encoded = ''] = /^Basic (.+)$/.exec(authorization) ?? []
    const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString().split(':').map(decodeURIComponent)
    return secret !== '' && this.#clients[id] === secret ? id : undefined
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('it does not listen on a port')
  return address.port
}
