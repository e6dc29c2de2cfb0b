import assert from 'node:assert/strict'
import { WebhookReceiver } from '@restante/testkit'
import { Ledger } from '../../faults/harness/ledger.ts'
import { MailSource } from '../../faults/harness/mail-source.ts'
import type { Tenant } from '../../support/tenants.ts'
import { createTenant, type Installation, inGateway } from './installation.ts'
import { OUTSIDE_DOMAIN, OUTSIDE_HOST } from './outside.ts'

/** Mails per second. All of a run stay below what one network may send to an organization in an hour. */
const RATE = 5
const INBOXES = 5

/** What happened while something was done to the installation. */
export interface Flow {
  readonly mails: number
  readonly replies: number
  readonly webhooks: number
  /** Requests of the agent that it had to repeat, with the reasons. */
  readonly failedRequests: readonly string[]
  /** Mails that were not accepted at the first attempt, with the reasons. */
  readonly smtpSetbacks: readonly string[]
}

/** Mail to an organization, an agent that answers it, and a webhook; all of it is counted. */
export class Traffic {
  readonly tenant: Tenant
  readonly source: MailSource
  readonly #ledger: Ledger
  readonly #receiver: WebhookReceiver

  private constructor(tenant: Tenant, source: MailSource, ledger: Ledger, receiver: WebhookReceiver) {
    this.tenant = tenant
    this.source = source
    this.#ledger = ledger
    this.#receiver = receiver
  }

  /** @param name distinguishes the replies of this traffic from those of another. */
  static async open(installation: Installation, name: string): Promise<Traffic> {
    const { smtp, server } = installation
    const tenant = await createTenant(installation)
    const inboxes = await Promise.all(
      Array.from({ length: INBOXES }, async () => (await tenant.client.inboxes.create({})).inboxId),
    )
    const receiver = await new WebhookReceiver().start(0, OUTSIDE_HOST)
    const { secret } = await tenant.client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'] })
    const source = new MailSource({ smtp, host: OUTSIDE_HOST, domain: OUTSIDE_DOMAIN, inboxes })
    const ledger = new Ledger({ name, tenant, inboxes, source, server, receiver, secret })
    return new Traffic(tenant, source, ledger, receiver)
  }

  /**
   * Lets mail flow while something is done, and counts it when everything has arrived.
   * @throws AssertionError when a mail, webhook or reply is missing or was doubled.
   */
  async during(work: () => Promise<void>): Promise<Flow> {
    let over = false
    const sending = (async () => {
      while (!over) await this.source.send(RATE, RATE)
    })()
    sending.catch(() => undefined)
    const agent = this.#ledger.startAgent()
    try {
      await work()
    } finally {
      over = true
    }
    await sending
    await agent.stop()
    await this.check()
    return {
      mails: this.source.accepted.length,
      replies: agent.replies.length,
      webhooks: this.#ledger.eventsInWebhooks().size,
      failedRequests: agent.setbacks,
      smtpSetbacks: this.source.accepted.flatMap(({ setbacks }) => setbacks),
    }
  }

  /** Compares everything that was sent so far with what has arrived. @throws AssertionError where they differ. */
  async check(): Promise<void> {
    await this.#ledger.settle()
    assert.deepEqual(await this.#ledger.count(), this.#ledger.expected())
    assert.deepEqual(await this.#ledger.countReplies(), this.#ledger.expectedReplies())
    const letters = await inGateway('libs/messaging/src/commands/dead-letters.ts', 'list')
    assert.match(letters, /no dead letters/i, `there are dead letters:\n${letters}`)
  }

  async close(): Promise<void> {
    this.source.close()
    await this.#receiver.stop()
  }
}
