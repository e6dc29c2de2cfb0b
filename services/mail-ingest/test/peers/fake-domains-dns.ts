import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import type { DomainState } from '@restante/contracts/events'
import { internalOperations } from '@restante/contracts/internal'

/** A fake domains-dns: HTTP on loopback, with the registrations that a test gives it. */
export interface FakeDomainsDns {
  readonly url: string
  /** Live registrations, by the id of the domain. */
  readonly registered: Map<string, DomainState>
  /** Names that were asked about, one question after the other. */
  readonly asked: (readonly string[])[]
  /** Answers 503 to every call. */
  down: boolean
  stop(): Promise<void>
}

const { 'domains-dns.findRegistrations': find, 'domains-dns.snapshotDomains': snapshot } = internalOperations
const { 'domains-dns.findInboxDomain': inboxDomain } = internalOperations

export async function startFakeDomainsDns(): Promise<FakeDomainsDns> {
  const server = createServer(async (request, response) => {
    const answer = answerTo(request.url, await json(request))
    response.setHeader('content-type', 'application/json')
    if (answer === undefined || fake.down) response.writeHead(503).end('{}')
    else response.end(JSON.stringify(answer))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the fake domains-dns is not listening')
  const fake: FakeDomainsDns = {
    url: `http://127.0.0.1:${address.port}`,
    registered: new Map(),
    asked: [],
    down: false,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return fake

  function answerTo(path: string | undefined, body: unknown): unknown {
    const all = [...fake.registered.values()]
    if (path === find.path) {
      const { names } = find.body.parse(body)
      fake.asked.push(names)
      return { domains: all.filter(({ domain }) => names.includes(domain)) }
    }
    // Tests decide by the registrations alone whether an inbox receives mail.
    if (path === inboxDomain.path) return { outcome: 'open' }
    if (path !== snapshot.path) return undefined
    const { after = '', limit } = snapshot.body.parse(body)
    const sorted = all.toSorted((a, b) => (a.domain_uid < b.domain_uid ? -1 : 1))
    const domains = sorted.filter(({ domain_uid }) => domain_uid > after).slice(0, limit)
    const last = domains.at(-1)?.domain_uid
    return { domains, ...(domains.length === limit && last !== undefined && { next: last }) }
  }
}
