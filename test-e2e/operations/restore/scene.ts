import { WebhookReceiver, waitFor } from '@restante/testkit'
import { Correspondent, type Reply } from '../../faults/harness/correspondent.ts'
import { repeated, storedIn } from '../../faults/harness/counts.ts'
import type { Installation } from '../../faults/harness/installation.ts'
import { MailSource } from '../../faults/harness/mail-source.ts'
import { Api } from '../../support/api.ts'
import { type OutsidePeer, openPeer } from '../../support/peers.ts'
import { clientOf, createTenant, newUsername, type Tenant } from '../../support/tenants.ts'
import type { Door } from './door.ts'
import { WebhookLedger } from './webhook-ledger.ts'

/** Mails per second. */
const RATE = 5
const INBOXES = 4
/** With which the subjects of mail between inboxes here begin. */
const INSIDE = 'inside'

/** Where traffic from outside comes in. */
export interface Doors {
  readonly smtp: Door
  readonly api: Door
}

/** A message that its server defers until the scene lets it in. */
export interface Waiting {
  readonly messageId: string
  readonly to: string
}

/**
 * An organization with mail flowing in and out: a mail server sends to its inboxes and repeats what is not accepted, an
 * agent replies, a webhook gets every event. All of it comes in by doors; what the test itself asks does not.
 */
export class Scene {
  readonly tenant: Tenant
  readonly inboxes: readonly string[]
  /** An inbox that gets mail from another one here only. */
  readonly neighbour: string
  readonly peer: OutsidePeer
  readonly source: MailSource
  readonly webhooks: WebhookLedger
  readonly #outside: Tenant
  readonly #receiver: WebhookReceiver
  readonly #agents: Correspondent[] = []
  #isOver = false
  #sending: Promise<void> = Promise.resolve()

  private constructor(parts: {
    tenant: Tenant
    outside: Tenant
    inboxes: readonly string[]
    neighbour: string
    peer: OutsidePeer
    receiver: WebhookReceiver
    source: MailSource
  }) {
    this.tenant = parts.tenant
    this.#outside = parts.outside
    this.inboxes = parts.inboxes
    this.neighbour = parts.neighbour
    this.peer = parts.peer
    this.source = parts.source
    this.#receiver = parts.receiver
    this.webhooks = new WebhookLedger(parts.receiver)
  }

  static async open({ system: { endpoints } }: Installation, { smtp, api }: Doors): Promise<Scene> {
    const [tenant, peer, receiver] = await Promise.all([
      createTenant(endpoints),
      openPeer(endpoints),
      new WebhookReceiver().start(),
    ])
    const { client } = tenant
    const newInbox = async () => (await client.inboxes.create({})).inboxId
    const [neighbour, ...inboxes] = await Promise.all([newInbox(), ...Array.from({ length: INBOXES }, newInbox)])
    // Some deliveries wait for their second attempt at any time.
    receiver.failFirstOfEvery(10)
    const eventTypes = ['message.received', 'message.sent', 'message.delivered'] as const
    await client.webhooks.create({ url: receiver.url, eventTypes: [...eventTypes] })
    const gatewayUrl = `http://127.0.0.1:${api.port}`
    const outside = {
      ...tenant,
      client: clientOf({ ...endpoints, gatewayUrl }, tenant.key),
      api: new Api(gatewayUrl, tenant.key),
    }
    const source = new MailSource({
      smtp: { host: '127.0.0.1', port: smtp.port },
      host: peer.server.host,
      domain: peer.domain,
      inboxes,
    })
    return new Scene({ tenant, outside, inboxes, neighbour, peer, receiver, source })
  }

  /** Lets mail come in until `stop`: what is not accepted is repeated. */
  startMail(): void {
    this.#sending = this.#send()
    // Reported by `stop`.
    this.#sending.catch(() => undefined)
  }

  startAgent(): void {
    this.#agents.push(new Correspondent(this.#outside, this.inboxes, `Agent ${this.#agents.length}`).start())
  }

  /** Resolves when the agent has sent its last reply; mail still comes in. */
  async stopAgent(): Promise<void> {
    await this.#agents.at(-1)?.stop()
  }

  /** Resolves when the last mail is accepted too. @throws Error when a mail or a reply was refused. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all([this.#sending, this.stopAgent()])
  }

  async close(): Promise<void> {
    this.source.close()
    await Promise.all([this.peer.stop(), this.#receiver.stop()])
  }

  /** Resolves when so many more mails are accepted, and so many replies sent. */
  async flow(mails: number, replies: number): Promise<void> {
    const [accepted, sent] = [this.source.accepted.length + mails, this.replies.length + replies]
    await waitFor(() => this.source.accepted.length >= accepted && this.replies.length >= sent, {
      what: `${mails} mails and ${replies} replies`,
      timeout: 120_000,
      interval: 50,
    })
  }

  get replies(): readonly Reply[] {
    return this.#agents.flatMap(({ replies }) => replies)
  }

  /** Mails that were answered with 250, in this order. */
  get accepted(): readonly string[] {
    return this.source.accepted.map(({ id }) => id)
  }

  /** Sends a message whose recipient is deferred until `admit`. Resolves when that has happened once. */
  async sendWaiting(): Promise<Waiting> {
    const to = this.peer.address(newUsername('later'))
    this.peer.server.answerRecipient(to, ...Array<'450 4.2.0 Later'>(1_000).fill('450 4.2.0 Later'))
    const { messageId } = await this.tenant.client.inboxes.messages.send(this.inboxes[0] ?? '', { to, text: 'Waiting' })
    await waitFor(() => this.peer.server.attempts.includes(to), { what: `${to} to be deferred` })
    return { messageId, to }
  }

  /** Accepts mail to that recipient from now on. */
  admit({ to }: Waiting): void {
    this.peer.server.answerRecipient(to)
  }

  /** Sends a message from one inbox to another one here. Resolves to its subject when it is there. */
  async sendInside(): Promise<string> {
    const [from, to, subject] = [this.inboxes[0] ?? '', this.neighbour, newUsername(INSIDE)]
    await this.tenant.client.inboxes.messages.send(from, { to, subject, text: 'From here' })
    await waitFor(async () => (await this.inside()).includes(subject), { what: `${subject} in ${to}` })
    return subject
  }

  /** The subjects of what the neighbour has received from here. */
  async inside(): Promise<string[]> {
    const { messages } = await this.tenant.client.inboxes.messages.list(this.neighbour, { labels: ['received'] })
    return messages.map(({ subject = '' }) => subject).filter((subject) => subject.startsWith(INSIDE))
  }

  /** The received mail of all inboxes, by Message-ID; what is stored twice is there twice. */
  async stored(): Promise<string[]> {
    return (await Promise.all(this.inboxes.map((inbox) => storedIn(this.tenant, inbox)))).flat()
  }

  /** Message-IDs of what has arrived outside; what has arrived twice is there twice. */
  arrived(): string[] {
    return this.peer.server.mails.map(({ parsed }) => parsed.messageId ?? '')
  }

  arrivedTwice(): string[] {
    return repeated(this.arrived())
  }

  /** The labels of the copy of a reply, undefined when there is none. */
  async labelsOf(inboxId: string, messageId: string): Promise<readonly string[] | undefined> {
    const { status, body } = await this.tenant.api.get(
      `/v0/inboxes/${encodeURIComponent(inboxId)}/messages/${encodeURIComponent(messageId)}`,
    )
    if (status === 404) return undefined
    return Array.isArray(body['labels']) ? body['labels'] : []
  }

  async #send(): Promise<void> {
    while (!this.#isOver) await this.source.send(RATE, RATE)
  }
}
