import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { type InternalOperationId, type InternalResponseOf, internalOperations } from '@restante/contracts/internal'

/** What is stored in an inbox. */
export interface StoredMail {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly messages: number
  readonly threads: number
  readonly bytes: number
  readonly drafts: number
}

type Tenancy = InternalResponseOf<'gateway.snapshotTenancy'>['entities']
type Domains = InternalResponseOf<'domains-dns.snapshotDomains'>['domains']

const ASKED = [
  'gateway.snapshotTenancy',
  'domains-dns.snapshotDomains',
  'mail-ingest.countMailboxes',
  'mail-send.countDrafts',
] as const satisfies readonly InternalOperationId[]
type Asked = (typeof ASKED)[number]

/** The owners of what metrics counts, at their wire, in pages as small as a test wants. */
export class FakeOwners {
  /** By inbox. */
  readonly mail = new Map<string, StoredMail>()
  tenancy: Tenancy = []
  domains: Domains = []
  /** Entities in a page at most. */
  page = 3
  /** Of the owner of messages. */
  unpublishedSince: Date | undefined
  /** How often each operation was asked. */
  readonly asked = new Map<Asked, number>()
  /** Called before an answer is made. */
  onAsked: (operation: Asked) => Promise<void> | void = () => {}
  url = ''
  readonly #server: Server = createServer(async (request, response) => {
    const operation = ASKED.find((id) => internalOperations[id].path === request.url)
    response.setHeader('content-type', 'application/json')
    if (operation === undefined) return void response.writeHead(404).end('{}')
    const body = internalOperations[operation].body.parse(await json(request))
    this.asked.set(operation, (this.asked.get(operation) ?? 0) + 1)
    await this.onAsked(operation)
    response.end(JSON.stringify(this.#answer(operation, body.after)))
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

  #answer(operation: Asked, after = ''): unknown {
    const at = new Date().toISOString()
    const mail = [...this.mail.values()]
    switch (operation) {
      case 'mail-ingest.countMailboxes': {
        const { items, next } = this.#pageOf(
          mail.filter(({ messages }) => messages > 0),
          ({ inbox_uid }) => inbox_uid,
          after,
        )
        const mailboxes = items.map(({ drafts: _, ...mailbox }) => mailbox)
        return { at, mailboxes, next, unpublished_since: this.unpublishedSince?.toISOString() }
      }
      case 'mail-send.countDrafts': {
        const { items, next } = this.#pageOf(
          mail.filter(({ drafts }) => drafts > 0),
          ({ inbox_uid }) => inbox_uid,
          after,
        )
        const inboxes = items.map(({ organization_id, pod_id, inbox_uid, drafts: bytes }) => {
          return { organization_id, pod_id, inbox_uid, bytes }
        })
        return { at, inboxes, next }
      }
      case 'domains-dns.snapshotDomains': {
        const { items, next } = this.#pageOf(this.domains, ({ domain_uid }) => domain_uid, after)
        return { domains: items, next }
      }
      case 'gateway.snapshotTenancy': {
        const { items, next } = this.#pageOf(this.tenancy, placeOf, after)
        return { entities: items, next }
      }
    }
  }

  #pageOf<T>(all: readonly T[], placeOf: (item: T) => string, after: string) {
    const left = all.filter((item) => placeOf(item) > after).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    const items = left.slice(0, this.page)
    const last = items.at(-1)
    return { items, ...(last !== undefined && left.length > items.length && { next: placeOf(last) }) }
  }
}

function placeOf(entity: Tenancy[number]): string {
  switch (entity.type) {
    case 'pod.changed':
      return `2:${entity.payload.pod_id}`
    case 'inbox.changed':
      return `3:${entity.payload.inbox_uid}`
    default:
      return '1:'
  }
}
