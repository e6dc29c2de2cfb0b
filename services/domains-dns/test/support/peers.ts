import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import {
  type InternalOperationId,
  type InternalRequestOf,
  type InternalResponseOf,
  internalOperations,
} from '@restante/contracts/internal'

type Answer<Id extends InternalOperationId> = (
  request: InternalRequestOf<Id>,
) => Promise<InternalResponseOf<Id> | number>

/** What the fake services answer; a number is an error status. */
export interface Answers {
  'gateway.confirmCaller': Answer<'gateway.confirmCaller'>
  'gateway.getDomainRights': Answer<'gateway.getDomainRights'>
  'gateway.countInboxesOn': Answer<'gateway.countInboxesOn'>
}

/** Callers keep their rights, may have 100 domains, and have no inboxes. */
const usual: Answers = {
  'gateway.confirmCaller': async ({ caller }) => ({ status: 'confirmed', caller }),
  'gateway.getDomainRights': async () => ({ live: true, domain_limit: 100 }),
  'gateway.countInboxesOn': async () => ({ count: 0 }),
}

/** The services that domains-dns calls, faked on loopback by their contracts. A test sets their answers. */
export class Peers {
  answers: Answers = { ...usual }
  readonly calls: { readonly operation: string; readonly request: unknown }[] = []
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
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    this.url = `http://127.0.0.1:${address.port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Takes back what a test has set. */
  reset(): void {
    this.answers = { ...usual }
    this.calls.length = 0
  }

  /** The requests of one operation. */
  requests<Id extends InternalOperationId>(operation: Id): InternalRequestOf<Id>[] {
    return this.calls.flatMap((call) => (call.operation === operation ? [parse(operation, call.request)] : []))
  }

  async #answer(id: InternalOperationId, body: unknown): Promise<unknown> {
    switch (id) {
      case 'gateway.confirmCaller':
        return this.answers[id](parse(id, body))
      case 'gateway.getDomainRights':
        return this.answers[id](parse(id, body))
      case 'gateway.countInboxesOn':
        return this.answers[id](parse(id, body))
      default:
        return 404
    }
  }
}

function parse<Id extends InternalOperationId>(id: Id, body: unknown): InternalRequestOf<Id> {
  // The schema of this operation determines its request type; the table of all operations cannot tell the compiler.
  return internalOperations[id].body.parse(body) as InternalRequestOf<Id>
}
