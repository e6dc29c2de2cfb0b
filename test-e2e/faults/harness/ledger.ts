import { type MailPeer, PATIENCE_MS, type WebhookReceiver, waitFor } from '@restante/testkit'
import type { Tenant } from '../../support/tenants.ts'
import { Correspondent } from './correspondent.ts'
import { deliveryIds, type EventIds, repeated, storedIn, VerifiedWebhooks } from './counts.ts'
import type { MailSource } from './mail-source.ts'

/** Limit for the work that is outstanding after a fault. A loaded machine needs a large part of it. */
const SETTLE_MS = 3 * PATIENCE_MS

export interface LedgerOptions {
  /** Prefix of the texts of its agents: ledgers that share a mail server have different ones. */
  readonly name?: string
  readonly tenant: Tenant
  readonly inboxes: readonly string[]
  /** What sends to the inboxes. */
  readonly source: MailSource
  /** The mail server that replies arrive at. */
  readonly server: MailPeer
  /** What gets a webhook of every received mail, and the secret of that webhook. */
  readonly receiver: WebhookReceiver
  readonly secret: string
}

/**
 * What an organization was sent and has sent, compared with what it has and what came out: received mail is in its inbox
 * and at the webhook, replies of agents are at the other side.
 */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #agents: Correspondent[] = []
  readonly #webhooks: VerifiedWebhooks

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#webhooks = new VerifiedWebhooks(options.receiver, options.secret)
  }

  /** Starts an agent that replies to incoming mail. */
  startAgent(): Correspondent {
    const { tenant, inboxes, name = 'Agent' } = this.#options
    const agent = new Correspondent(tenant, inboxes, `${name} ${this.#agents.length}`).start()
    this.#agents.push(agent)
    return agent
  }

  /** Resolves when everything that was sent so far is fully processed, or when the time limit is reached. */
  async settle(): Promise<void> {
    const wanted = this.#options.source.accepted.length
    await waitFor(() => this.eventsInWebhooks().size >= wanted, {
      what: `${wanted} mails at the webhook`,
      timeout: SETTLE_MS,
      interval: 500,
    }).catch(() => undefined)
    await waitFor(() => this.#replies.every(({ text }) => this.#outside(text).length > 0), {
      what: 'the replies outside',
      timeout: SETTLE_MS,
      interval: 200,
    }).catch(() => undefined)
  }

  /** Counts the received mail at the beginning and at the end of its processing. */
  async count() {
    const { tenant, inboxes, source, receiver } = this.#options
    const stored = (await Promise.all(inboxes.map((inbox) => storedIn(tenant, inbox)))).flat()
    const present = new Set(stored)
    return {
      accepted: source.accepted.length,
      stored: present.size,
      storedTwice: repeated(stored),
      notStored: source.accepted.map(({ id }) => id).filter((id) => !present.has(id)),
      delivered: this.eventsInWebhooks().size,
      deliveredUnderSeveralIds: severalIds(deliveryIds(receiver)),
    }
  }

  /** The result of `count` when nothing is lost or duplicated. */
  expected() {
    const mails = this.#options.source.accepted.length
    return {
      accepted: mails,
      stored: mails,
      storedTwice: [],
      notStored: [],
      delivered: mails,
      deliveredUnderSeveralIds: [],
    }
  }

  /** Counts the replies of the agents at each step of their processing. */
  async countReplies() {
    const replies = this.#replies
    const { client } = this.#options.tenant
    const labels = await Promise.all(
      replies.map(async ({ inboxId, messageId }) => {
        const message = await waitFor(
          async () => {
            const found = await client.inboxes.messages.get(inboxId, messageId)
            return found.labels.includes('delivered') && found
          },
          { what: `${messageId} to be delivered`, interval: 200 },
        )
        return message.labels
      }),
    )
    return {
      sent: replies.length,
      arrived: replies.filter(({ text }) => this.#outside(text).length > 0).length,
      // A peer may receive the same mail twice when its 250 was lost, but never two mails.
      underSeveralIds: replies.filter(({ text }) => new Set(this.#outside(text)).size > 1).length,
      delivered: labels.length,
    }
  }

  /** The result of `countReplies` when each reply was delivered and reported as delivered. */
  expectedReplies() {
    const replies = this.#replies.length
    return { sent: replies, arrived: replies, underSeveralIds: 0, delivered: replies }
  }

  /** Deliveries that the receiver got again after it had accepted them. */
  deliveredTwice(): string[] {
    return repeated(this.#options.receiver.taken)
  }

  /** Replies that were delivered more than once. */
  arrivedTwice(): string[] {
    return repeated(this.#options.server.mails.map(({ parsed }) => parsed.messageId ?? ''))
  }

  eventsInWebhooks(): EventIds {
    return this.#webhooks.events()
  }

  get #replies() {
    return this.#agents.flatMap(({ replies }) => replies)
  }

  /** Ids of the delivered mails with that text. */
  #outside(text: string): string[] {
    return this.#options.server.mails
      .filter(({ parsed }) => parsed.text?.startsWith(`${text}\n`))
      .map(({ parsed }) => parsed.messageId ?? '')
  }
}

/** The mails of which there is more than one event. */
export function severalIds(events: EventIds): string[] {
  return [...events].filter(([, ids]) => ids.size > 1).map(([id]) => id)
}
