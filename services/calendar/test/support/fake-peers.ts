import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import {
  type InternalOperationId,
  type InternalRequestOf,
  type InternalResponseOf,
  internalOperations,
} from '@restante/contracts/internal'
import type { TestInbox } from './tenant.ts'

type Answer<Id extends InternalOperationId> = (
  request: InternalRequestOf<Id>,
) => InternalResponseOf<Id> | Promise<InternalResponseOf<Id>>

const ASKED = [
  'gateway.confirmCaller',
  'gateway.lookupInboxes',
  'gateway.getSendingInbox',
  'mail-send.chargeInvitations',
  'mail-send.sendInvitation',
  'mail-ingest.getCalendarFiles',
] as const
type Asked = (typeof ASKED)[number]
type Answers = { readonly [Id in Asked]: Answer<Id> }
/** A received mail, as mail-ingest answers it. */
type ReceivedMail = NonNullable<InternalResponseOf<'mail-ingest.getCalendarFiles'>['mail']>

/**
 * The services that the calendar asks, at their wire: they answer as the contracts of their internal operations say, from
 * tables that a test fills. A test replaces single answers with `answers`; one that throws is an outage.
 */
export class FakePeers {
  /** By their uid. Others are deleted. */
  readonly inboxes = new Map<string, TestInbox>()
  /** Received mails by `<inbox_uid>:<message_id>`. */
  readonly received = new Map<string, ReceivedMail>()
  /** Ids of the charged operations, each with its recipients. */
  readonly charged = new Map<string, readonly string[]>()
  /** Mails that were handed over, in order. */
  readonly sent: InternalRequestOf<'mail-send.sendInvitation'>[] = []
  answers: Partial<Answers> = {}
  url = ''

  readonly #usual: Answers = {
    'gateway.confirmCaller': ({ caller }) => ({ status: 'confirmed', caller }),
    'gateway.lookupInboxes': ({ organization_id, pod_id, inbox_uid, inboxes }) => {
      const found = inboxes.flatMap((given) => {
        const inbox = [...this.inboxes.values()].find(({ address }) => address === given)
        const isIn = inbox?.organization_id === organization_id && (pod_id ?? inbox.pod_id) === inbox.pod_id
        if (!isIn || (inbox_uid ?? inbox.inbox_uid) !== inbox.inbox_uid) return []
        return [{ given, pod_id: inbox.pod_id, inbox_uid: inbox.inbox_uid, address: inbox.address }]
      })
      return { inboxes: found, pods: [] }
    },
    'gateway.getSendingInbox': ({ inbox_uid }) => {
      const found = this.inboxes.get(inbox_uid)
      if (found === undefined) return {}
      const { organization_id, asCaller: inbox } = found
      return { sender: { organization_id, inbox, sending: 'ok', unverified: false, take_overs: 0 } }
    },
    'mail-send.chargeInvitations': ({ id, recipients }) => {
      this.charged.set(id, recipients)
      return { outcome: 'charged' }
    },
    'mail-send.sendInvitation': (request) => {
      if (!this.sent.some(({ id }) => id === request.id)) this.sent.push(request)
      return { outcome: 'sent', message_id: `<${request.id}@restante.test>`, thread_id: request.id }
    },
    'mail-ingest.getCalendarFiles': ({ inbox_uid, message_id }) => {
      const mail = this.received.get(`${inbox_uid}:${message_id}`)
      return mail === undefined ? {} : { mail }
    },
  }
  readonly #server: Server = createServer(async (request, response) => {
    const operation = ASKED.find((id) => internalOperations[id].path === request.url)
    const body: unknown = await json(request)
    const answer = operation ? await this.#answer(operation, body).catch(() => undefined) : {}
    response.statusCode = operation ? (answer === undefined ? 503 : 200) : 404
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer ?? {}))
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

  async #answer<Id extends Asked>(id: Id, body: unknown): Promise<unknown> {
    const answer: Answer<Id> = this.answers[id] ?? this.#usual[id]
    return answer(parse(id, body))
  }
}

function parse<Id extends Asked>(id: Id, body: unknown): InternalRequestOf<Id> {
  // The schema of this operation determines its request type; the table of all operations cannot tell the compiler.
  return internalOperations[id].body.parse(body) as InternalRequestOf<Id>
}
