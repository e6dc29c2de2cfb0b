import { randomUUID } from 'node:crypto'
import type { BlobReference, SentCopy } from '@restante/contracts/schemas'
import type { Timers } from '@restante/jobs'
import { normalizeAddress } from '@restante/mime'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { type SendTimers, shareOf } from '../../timers/kinds.ts'
import { forgetBlob } from './pending-blobs.ts'
import type { Origin } from './sends.ts'

/** A message to be sent. */
export interface OutboundMessage {
  readonly id: string
  readonly origin: Origin
  readonly messageId: string
  readonly acceptedAt: Date
  readonly blob: BlobReference
  /** What the mailbox stores of it; absent for the installation's own mail. */
  readonly copy: SentCopy | undefined
  /** Whether its recipients can unsubscribe by a link of the service. */
  readonly unsubscribable: boolean
  /** Whether it has an image that tells of its opening (mail 15.4). */
  readonly tracked: boolean
  /** Domain of its envelope senders; undefined: the one of the installation. */
  readonly returnPath: string | undefined
  /** Domain that it is from, lower case, in A-labels. */
  readonly senderDomain: string
  /** Bare addresses, each once. */
  readonly recipients: readonly string[]
}

const ADD_SENDS = sql<
  { id: string },
  [
    ids: readonly string[],
    organizationIds: readonly (string | null)[],
    podIds: readonly (string | null)[],
    inboxUids: readonly (string | null)[],
    threadIds: readonly (string | null)[],
    messageIds: readonly string[],
    sizes: readonly number[],
    sha256s: readonly string[],
    copies: readonly (string | null)[],
    acceptedAt: readonly string[],
    unsubscribable: readonly boolean[],
    tracked: readonly boolean[],
    returnPaths: readonly (string | null)[],
  ]
>(`
insert into sends (id, organization_id, pod_id, inbox_uid, thread_id, message_id, size, sha256, copy, accepted_at,
                   unsubscribable, tracked, return_path)
select id, organization_id, pod_id, inbox_uid, thread_id, message_id, size, sha256, copy::jsonb, accepted_at,
       unsubscribable, tracked, return_path
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::int[], $8::text[],
              $9::text[], $10::timestamptz[], $11::boolean[], $12::boolean[], $13::text[])
       as given (id, organization_id, pod_id, inbox_uid, thread_id, message_id, size, sha256, copy, accepted_at,
                 unsubscribable, tracked, return_path)
returning id`)

const ADD_DELIVERIES = sql<
  never,
  [
    ids: readonly string[],
    sendIds: readonly string[],
    recipients: readonly string[],
    destinations: readonly string[],
    inside: readonly boolean[],
    queuedAt: readonly string[],
  ]
>(`
insert into deliveries (id, send_id, recipient, destination, state, inside, queued_at, updated_at)
select id, send_id, recipient, destination, 'queued', inside, queued_at, now()
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::timestamptz[])
       as given (id, send_id, recipient, destination, inside, queued_at)`)

/** Queues accepted messages for delivery. */
export class OutboundQueue {
  readonly #timers: Timers<SendTimers>
  readonly #isHosted: (domain: string) => boolean

  /** @param isHosted whether the inboxes of a domain (lower case, A-labels) are this installation's. */
  constructor(timers: Timers<SendTimers>, isHosted: (domain: string) => boolean) {
    this.#timers = timers
    this.#isHosted = isHosted
  }

  /** Whether mail to an address is delivered to an inbox hosted here. */
  isInside(address: string): boolean {
    return this.#isHosted(destinationOf(address))
  }

  /**
   * Records messages, a delivery per recipient, and a first attempt per message and destination that begins as soon as
   * the transaction has committed. The number of statements does not depend on that of the messages.
   */
  async add(tx: Tx, ...messages: readonly OutboundMessage[]): Promise<void> {
    await Promise.all([
      addSends(tx, messages),
      forgetBlob(tx, ...messages.map(({ id }) => id)),
      this.#addDeliveries(tx, messages),
      this.#timers.scheduleAll(
        tx,
        messages.flatMap((message) => this.#firstAttempts(message)),
      ),
    ])
  }

  async #addDeliveries(tx: Tx, messages: readonly OutboundMessage[]): Promise<void> {
    const deliveries = messages.flatMap((message) =>
      message.recipients.map((recipient) => ({ message, recipient, destination: destinationOf(recipient) })),
    )
    if (deliveries.length === 0) return
    await tx.query(
      ADD_DELIVERIES,
      deliveries.map(() => randomUUID()),
      deliveries.map(({ message }) => message.id),
      deliveries.map(({ recipient }) => recipient),
      deliveries.map(({ destination }) => destination),
      deliveries.map(({ destination }) => this.#isHosted(destination)),
      deliveries.map(({ message }) => message.acceptedAt.toISOString()),
    )
  }

  #firstAttempts({ id, origin, recipients, senderDomain }: OutboundMessage) {
    const share = shareOf(origin.kind === 'inbox' ? origin.organizationId : undefined)
    return [...new Set(recipients.map(destinationOf))].map((destination) => ({
      kind: this.#isHosted(destination) ? ('delivery-local' as const) : ('delivery-outside' as const),
      key: `${id}/${destination}`,
      payload: { send_id: id, destination, sender_domain: senderDomain },
      share,
    }))
  }
}

async function addSends(on: Queryable, messages: readonly OutboundMessage[]): Promise<void> {
  const owners = messages.map(({ origin }) => (origin.kind === 'inbox' ? origin : undefined))
  await on.query(
    ADD_SENDS,
    messages.map(({ id }) => id),
    owners.map((own) => own?.organizationId ?? null),
    owners.map((own) => own?.podId ?? null),
    owners.map((own) => own?.inboxUid ?? null),
    owners.map((own) => own?.threadId ?? null),
    messages.map(({ messageId }) => messageId),
    messages.map(({ blob }) => blob.size),
    messages.map(({ blob }) => blob.sha256),
    messages.map(({ copy }) => (copy ? JSON.stringify(copy) : null)),
    messages.map(({ acceptedAt }) => acceptedAt.toISOString()),
    messages.map(({ unsubscribable }) => unsubscribable),
    messages.map(({ tracked }) => tracked),
    messages.map(({ returnPath }) => returnPath ?? null),
  )
}

/** Domain of a recipient in the form in which it is compared and looked up. */
function destinationOf(recipient: string): string {
  const normal = normalizeAddress(recipient)
  return normal.slice(normal.lastIndexOf('@') + 1)
}
