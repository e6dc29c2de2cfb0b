import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import type { DomainState } from '@restante/contracts/events'
import {
  type InternalOperationId,
  type InternalRequestOf,
  type InternalResponseOf,
  internalOperations,
} from '@restante/contracts/internal'
import { listenOn } from './listen.ts'

type Answers = {
  [Id in InternalOperationId]?: (request: InternalRequestOf<Id>) => Promise<InternalResponseOf<Id> | number>
}

/**
 * Fake versions of the services that mail-send calls: HTTP on loopback. A test sets their answers; a number is an error
 * status, and an operation without an answer is 503. Callers keep their rights unless a test changes that.
 */
export class Peers {
  readonly calls: { operation: string; request: unknown }[] = []
  answers: Answers = {}
  /** Live registrations of domains, by the id of the domain. */
  readonly registered = new Map<string, DomainState>()
  url = ''
  readonly #server: Server = createServer(async (request, response) => {
    const operation = Object.values(internalOperations).find(({ path }) => path === request.url)
    const body: unknown = await json(request)
    this.calls.push({ operation: operation?.id ?? '', request: body })
    const result = operation ? await this.#answer(operation.id, body) : 404
    response.statusCode = typeof result === 'number' ? result : 200
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(typeof result === 'number' ? {} : result))
  })

  async start(): Promise<this> {
    this.url = `http://127.0.0.1:${await listenOn(this.#server)}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => {
      this.#server.close(resolve)
    })
  }

  /** The requests of one operation. */
  requests<Id extends InternalOperationId>(operation: Id): InternalRequestOf<Id>[] {
    return this.calls.flatMap((call) => (call.operation === operation ? [parse(operation, call.request)] : []))
  }

  #registrationsOf(names: readonly string[]): DomainState[] {
    return [...this.registered.values()].filter(({ domain }) => names.includes(domain))
  }

  async #answer(id: InternalOperationId, body: unknown): Promise<unknown> {
    switch (id) {
      case 'gateway.resolveRecipients':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'gateway.confirmCaller': {
        const request = parse(id, body)
        return this.answers[id]?.(request) ?? { status: 'confirmed', caller: request.caller }
      }
      case 'mail-ingest.getReplySource':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'mail-ingest.copyFiles':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'gateway.suspendOrganization':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'gateway.getSendingInbox':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'mail-ingest.placeSent':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'mail-ingest.acceptForOperator':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'mail-ingest.acceptNotice':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'gateway.lookupInboxes':
        return this.answers[id]?.(parse(id, body)) ?? { inboxes: [], pods: [] }
      case 'domains-dns.findRegistrations':
        return this.answers[id]?.(parse(id, body)) ?? { domains: this.#registrationsOf(parse(id, body).names) }
      case 'domains-dns.snapshotDomains':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'domains-dns.getSigningKey':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'mail-ingest.findMissingCopies':
        return this.answers[id]?.(parse(id, body)) ?? 503
      case 'mail-ingest.acceptInbound':
        return this.answers[id]?.(parse(id, body)) ?? 503
      default:
        return 404
    }
  }
}

function parse<Id extends InternalOperationId>(id: Id, body: unknown): InternalRequestOf<Id> {
  // The schema of this operation determines its request type; the table of all operations cannot tell the compiler.
  return internalOperations[id].body.parse(body) as InternalRequestOf<Id>
}
