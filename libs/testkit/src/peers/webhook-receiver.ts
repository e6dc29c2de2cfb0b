import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { Webhook } from 'svix'
import { type WaitOptions, waitFor } from '../timing/wait-for.ts'

export interface WebhookRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The exact bytes of the body, which the signature covers. */
  readonly body: string
  readonly receivedAt: Date
}

/** The reaction of the receiver to one request. */
export type WebhookAnswer =
  | number
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Reads the request and never answers. */
  | 'silence'
  /** Breaks the connection. */
  | 'hang-up'

/** An HTTP server that keeps every request and answers as scripted; without a script, 200. */
export class WebhookReceiver {
  readonly requests: WebhookRequest[] = []
  /** Delivery ids of requests that were answered 2xx. */
  readonly taken: string[] = []
  readonly #server: Server
  #script: WebhookAnswer[] = []
  #always: WebhookAnswer = 200
  /** Delivery ids that were received before, which identify first attempts. */
  readonly #seen = new Set<unknown>()
  #failing = 0
  /** Requests that were not answered. */
  readonly #held: ServerResponse[] = []
  #port = 0
  #host = '127.0.0.1'

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString()
        this.requests.push({ path: request.url ?? '', headers: request.headers, body, receivedAt: new Date() })
        this.#answer(response, this.#script.shift() ?? this.#answerTo(request.headers))
      })
    })
  }

  async start(port = 0, host = '127.0.0.1'): Promise<this> {
    this.#host = host
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    this.#port = address.port
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  get url(): string {
    return `http://${this.#host}:${this.#port}/hook`
  }

  /** Scripts the responses to the next requests, in order; later requests get the default response. */
  script(...answers: WebhookAnswer[]): this {
    this.#script = answers
    return this
  }

  always(answer: WebhookAnswer): this {
    this.#always = answer
    return this
  }

  /** Answers the first attempt of every n-th delivery with 503. */
  failFirstOfEvery(deliveries: number): this {
    this.#failing = deliveries
    return this
  }

  /** Answers the requests that were not answered so far. */
  release(how: WebhookAnswer): void {
    for (const response of this.#held.splice(0)) this.#answer(response, how)
  }

  /** Resolves to the first request that matches, past or future. */
  next(matches: (request: WebhookRequest) => boolean, options: WaitOptions): Promise<WebhookRequest> {
    return waitFor(() => this.requests.find(matches), options)
  }

  #answerTo(headers: IncomingHttpHeaders): WebhookAnswer {
    const isFirst = this.#seen.size !== this.#seen.add(headers['svix-id']).size
    return isFirst && this.#failing > 0 && this.#seen.size % this.#failing === 0 ? 503 : this.#always
  }

  #answer(response: ServerResponse, how: WebhookAnswer): void {
    if (how === 'silence') {
      this.#held.push(response)
      return
    }
    if (how === 'hang-up') {
      response.socket?.destroy()
      return
    }
    const { status, headers, body } = typeof how === 'number' ? { status: how, headers: {}, body: '' } : how
    if (status < 300) this.taken.push(String(response.req.headers['svix-id']))
    response.writeHead(status, headers)
    response.end(body)
  }
}

/**
 * Checks a request with the independent library that receivers use, and parses its body.
 * @throws WebhookVerificationError when the signature does not fit the bytes, or is too old.
 */
export function verifyWebhook(secret: string, request: WebhookRequest): unknown {
  const header = (name: string) => String(request.headers[name] ?? '')
  new Webhook(secret).verify(request.body, {
    'svix-id': header('svix-id'),
    'svix-timestamp': header('svix-timestamp'),
    'svix-signature': header('svix-signature'),
  })
  return JSON.parse(request.body)
}
