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

const ADD_SEND = sql<
  { id: string },
  [
    id: string,
    organizationId: string | null,
    podId: string | null,
    inboxUid: string | null,
    threadId: string | null,
    messageId: string,
    size: number,
    sha256: string,
    copy: string | null,
    acceptedAt: string,
    unsubscribable: boolean,
    tracked: boolean,
    returnPath: string | null,
  ]
>(`
insert into sends (id, organization_id, pod_id, inbox_uid, thread_id, message_id, size, sha256, copy, accepted_at,
                   unsubscribable, tracked, return_path)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12, $13)
returning id`)

const ADD_DELIVERIES = sql<
  never,
  [
    ids: readonly string[],
    sendId: string,
    recipients: readonly string[],
    destinations: readonly string[],
    inside: readonly boolean[],
    queuedAt: string,
  ]
>(`
insert into deliveries (id, send_id, recipient, destination, state, inside, queued_at, updated_at)
select id, $2, recipient, destination, 'queued', inside, $6, now()
  from unnest($1::uuid[], $3::text[], $4::text[], $5::boolean[]) as given (id, recipient, destination, inside)`)

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
   * Records the message, a delivery per recipient, and a first attempt per destination that begins as soon as the
   * transaction has committed.
   */
  async add(tx: Tx, message: OutboundMessage): Promise<void> {
    await addSend(tx, message)
    await forgetBlob(tx, message.id)
    if (message.recipients.length === 0) return
    const destinations = message.recipients.map(destinationOf)
    const ids = message.recipients.map(() => randomUUID())
    const inside = destinations.map(this.#isHosted)
    const { origin } = message
    const share = shareOf(origin.kind === 'inbox' ? origin.organizationId : undefined)
    await tx.query(
      ADD_DELIVERIES,
      ids,
      message.id,
      message.recipients,
      destinations,
      inside,
      message.acceptedAt.toISOString(),
    )
    await this.#timers.scheduleAll(
      tx,
      [...new Set(destinations)].map((destination) => ({
        kind: this.#isHosted(destination) ? ('delivery-local' as const) : ('delivery-outside' as const),
        key: `${message.id}/${destination}`,
        payload: { send_id: message.id, destination, sender_domain: message.senderDomain },
        share,
      })),
    )
  }
}

async function addSend(on: Queryable, message: OutboundMessage): Promise<void> {
  const { id, origin, messageId, acceptedAt, blob } = message
  const own = origin.kind === 'inbox' ? origin : undefined
  await on.query(
    ADD_SEND,
    id,
    own?.organizationId ?? null,
    own?.podId ?? null,
    own?.inboxUid ?? null,
    own?.threadId ?? null,
    messageId,
    blob.size,
    blob.sha256,
    message.copy ? JSON.stringify(message.copy) : null,
    acceptedAt.toISOString(),
    message.unsubscribable,
    message.tracked,
    message.returnPath ?? null,
  )
}

/** Domain of a recipient in the form in which it is compared and looked up. */
function destinationOf(recipient: string): string {
  const normal = normalizeAddress(recipient)
  return normal.slice(normal.lastIndexOf('@') + 1)
}
