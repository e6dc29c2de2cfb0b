import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Caller } from '@restante/contracts/access'
import { type InternalResponseOf, purgeOperations, type SetupResult } from '@restante/contracts/internal'
import { isOperationId, type OperationId, operations } from '@restante/contracts/operations'
import { CALLER_HEADER, type CallerClaims, verifyCaller } from '@restante/service/identity'
import { acceptLink, LINK_PROTOCOL, type Link } from '@restante/service/links'

/** What a service behind the gateway got to see of one request. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export interface SystemMail {
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Where each service is asked what it has purged. */
const purgePaths: ReadonlySet<string> = new Set(Object.values(purgeOperations).map(({ path }) => path))

type Answer = (request: IncomingMessage, response: ServerResponse) => void
type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/**
 * The services behind the gateway, seen from it: an HTTP server that remembers what came. One stands in for all of
 * them; by default it answers every public operation with an empty object.
 */
export class FakeUpstreams {
  readonly seen: SeenRequest[] = []
  readonly systemMails: SystemMail[] = []
  readonly drained: string[][] = []
  /** Organizations that have received mail. */
  readonly received = new Set<string>()
  /** Links to unsubscribe that lead to a delivery, with its recipient, and which of them were confirmed. */
  readonly links = new Map<string, string>()
  readonly unsubscribed: string[] = []
  /** Results of setups at DNS providers, by their states; each is given once. */
  readonly setups = new Map<string, SetupResult>()
  /** Tokens of images that were loaded. */
  readonly opened: string[] = []
  /** Certificates of tracking hosts, and the host of each question about one or about a challenge. */
  readonly certificates = new Map<string, Readonly<Record<'chain' | 'private_key' | 'not_after', string>>>()
  readonly askedHosts: string[] = []
  /** Answers to challenges, by host and token. */
  readonly challenges = new Map<string, string>()
  /** Services that still hold something of deleted inboxes, by the path at which they are asked. */
  readonly purging = new Set<string>()
  /** What they were asked about, in order. */
  readonly asked: { readonly path: string; readonly inbox: Readonly<Record<string, unknown>> }[] = []
  /** Take-overs for which the webhooks of earlier keys were to end, in order. */
  readonly ended: { readonly organization_id: string; readonly take_overs: number }[] = []
  /** The same for their streams. */
  readonly endedStreams: { readonly organization_id: string; readonly take_overs: number }[] = []
  /** Whether new inboxes may be on custom domains, by organization and name; a name that is not there is unknown. */
  readonly inboxDomains = new Map<string, InternalResponseOf<'domains-dns.findInboxDomain'>['outcome']>()
  /** Number of live domains, by pod or organization. */
  readonly domainCounts = new Map<string, number>()
  /** Answers 503 to every internal call, as a service that is starting does. */
  down = false
  /** Calls about the outbound queue and the log of webhooks, in order, and the answers to the next ones. */
  readonly queueCalls: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[] = []
  readonly queueAnswers: Readonly<Record<string, unknown>>[] = []
  /** Paths of internal calls that are answered 503. */
  readonly refusing = new Set<string>()
  /** Whom the sending service says that it cannot mail. */
  readonly unmailable = new Set<string>()
  /** Whose mail comes back. */
  readonly returning = new Set<string>()
  answer: Answer = (_request, response) => void response.setHeader('content-type', 'application/json').end('{}')
  upgrade: Upgrade = (_request, socket) => socket.destroy()
  /** Links that are open, and whether there are any: the release before knows none. */
  readonly streamLinks = new Set<Link>()
  hasLinks = true
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      if (request.url?.startsWith('/internal/')) return void this.#internal(request, response)
      if (request.url === '/readyz') return void response.end('{}')
      return this.answer(request, response)
    })
    this.#server.on('upgrade', (request, socket: Socket, head) => {
      if (request.headers.upgrade === LINK_PROTOCOL) this.#link(socket, head)
      else this.upgrade(request, socket, head)
    })
  }

  #link(socket: Socket, head: Buffer): void {
    if (!this.hasLinks)
      return void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    const accept = (channel: Duplex) => void this.#server.emit('connection', channel)
    const link: Link = acceptLink({ socket, head, accept, onClose: () => void this.streamLinks.delete(link) })
    this.streamLinks.add(link)
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    return `http://127.0.0.1:${address.port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    for (const link of this.streamLinks) link.close()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Remembers the whole request, then answers with `status` and `body`. */
  record(status = 200, body: unknown = {}): void {
    this.answer = async (request, response) => {
      const bytes = await readAll(request)
      this.seen.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: bytes,
      })
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
  }

  #queued(path: string, body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    this.queueCalls.push({
      path: path.replace(/^\/internal\/(delivery-queue|webhook-log|domains-operator|dmarc|apps|metrics)\//, ''),
      body,
    })
    const answer = this.queueAnswers.shift()
    if (answer === undefined) throw new Error(`no answer is scripted for ${path}`)
    return answer
  }

  async #internal(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const document = JSON.parse((await readAll(request)).toString())
    if (this.down || this.refusing.has(request.url ?? '')) return void response.writeHead(503).end()
    response.setHeader('content-type', 'application/json')
    switch (request.url) {
      case '/internal/inbound/exists':
        return void response.end(JSON.stringify({ received: this.received.has(document.organization_id) }))
      case '/internal/inbound/since': {
        const organization_ids = document.organization_ids.filter((id: string) => this.received.has(id))
        return void response.end(JSON.stringify({ organization_ids }))
      }
      case '/internal/system-mail/send':
        this.systemMails.push(document)
        if (this.unmailable.has(document.to)) response.statusCode = 400
        return void response.end('{}')
      case '/internal/system-mail/failed': {
        const to = this.systemMails.find(({ id }) => id === document.id)?.to
        return void response.end(JSON.stringify({ failed: to !== undefined && this.returning.has(to) }))
      }
      case '/internal/unsubscribe/find':
      case '/internal/unsubscribe/confirm': {
        const recipient = this.links.get(document.token)
        if (request.url.endsWith('confirm') && recipient !== undefined) this.unsubscribed.push(document.token)
        const suppressed = this.unsubscribed.includes(document.token)
        return void response.end(
          JSON.stringify(recipient === undefined ? {} : { unsubscribe: { recipient, suppressed } }),
        )
      }
      case '/internal/domains/complete-setup': {
        const result = this.setups.get(document.state) ?? { outcome: 'unknown' }
        this.setups.delete(document.state)
        return void response.end(JSON.stringify(result))
      }
      case '/internal/opens/record':
        this.opened.push(document.token)
        return void response.end('{}')
      case '/internal/certificates/find': {
        this.askedHosts.push(document.host)
        const certificate = this.certificates.get(document.host)
        return void response.end(JSON.stringify({ ...(certificate !== undefined && { certificate }) }))
      }
      case '/internal/certificates/challenge': {
        this.askedHosts.push(document.host)
        const key_authorization = this.challenges.get(`${document.host} ${document.token}`)
        return void response.end(JSON.stringify({ ...(key_authorization !== undefined && { key_authorization }) }))
      }
      case '/internal/domains/count': {
        const count = this.domainCounts.get(document.pod_id ?? document.organization_id) ?? 0
        return void response.end(JSON.stringify({ count }))
      }
      case '/internal/domains/inbox-domain': {
        const outcome = this.inboxDomains.get(`${document.organization_id} ${document.name}`) ?? 'unknown'
        return void response.end(JSON.stringify({ outcome }))
      }
      case '/internal/connections/drain':
        this.drained.push(document.request_ids)
        return void response.end('{}')
      case '/internal/webhooks/end':
        this.ended.push(document)
        return void response.end('{}')
      case '/internal/streams/end':
        this.endedStreams.push(document)
        return void response.end('{}')
      case '/internal/delivery-queue/list':
      case '/internal/delivery-queue/show':
      case '/internal/delivery-queue/retry':
      case '/internal/delivery-queue/drop':
      case '/internal/delivery-queue/hold':
      case '/internal/delivery-queue/release':
      case '/internal/delivery-queue/holds':
      case '/internal/domains-operator/list':
      case '/internal/domains-operator/show':
      case '/internal/domains-operator/bar':
      case '/internal/domains-operator/check':
      case '/internal/dmarc/list':
      case '/internal/apps/create':
      case '/internal/apps/list':
      case '/internal/apps/get':
      case '/internal/apps/update':
      case '/internal/apps/add-secret':
      case '/internal/apps/remove-secret':
      case '/internal/apps/remove':
      case '/internal/apps/set-limit':
      case '/internal/apps/list-limits':
      case '/internal/metrics/show':
      case '/internal/metrics/start-rebuild':
      case '/internal/metrics/get-rebuild':
      case '/internal/metrics/compare':
      case '/internal/webhook-log/list':
      case '/internal/webhook-log/replay':
      case '/internal/webhook-log/replay-range':
        return void response.end(JSON.stringify(this.#queued(request.url, document)))
      default:
        if (request.url === undefined || !purgePaths.has(request.url)) return void response.writeHead(404).end()
        this.asked.push({ path: request.url, inbox: document })
        return void response.end(JSON.stringify({ purged: !this.purging.has(request.url) }))
    }
  }
}

/** The caller of a request that the gateway passed on, from a token that only the named service can read. */
export async function callerOf(
  request: Pick<SeenRequest, 'headers'>,
  id: OperationId,
  callerKey: string,
): Promise<Caller> {
  return (await claimsOf(request, id, callerKey)).caller
}

/** All that the token of such a request says. */
export async function claimsOf(
  request: Pick<SeenRequest, 'headers'>,
  id: OperationId,
  callerKey: string,
): Promise<CallerClaims> {
  const token = request.headers[CALLER_HEADER]
  if (!isOperationId(id) || typeof token !== 'string') throw new Error('no caller token')
  return verifyCaller(token, callerKey, operations[id].service, id)
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}
