import type { BlobStore } from '@restante/blobs'
import type { SentMessage } from '@restante/contracts/resources'
import type { SentCopy } from '@restante/contracts/schemas'
import type { Outbox } from '@restante/messaging'
import { type Database, retryThroughOutage, type Tx } from '@restante/service/database'
import { ApiError, isInfrastructureError, notFound } from '@restante/service/errors'
import { holdInbox } from '@restante/tenancy'
import type { OutboundQueue } from '../../delivery/outbound/outbound-queue.ts'
import { announceBlob, forgetBlob, wasAccepted } from '../../delivery/outbound/pending-blobs.ts'
import { outboundBlob } from '../../delivery/outbound/sends.ts'
import { deliveriesTopic } from '../../delivery/outcome/delivery-events.ts'
import type { ComposedMessage } from '../content/message.ts'
import { type Claim, completeKey, UnknownOutcomeError } from './idempotency.ts'
import type { Quota } from './quotas.ts'

/** Conditions of an acceptance: for whom, to whom, and what it counts against. */
export interface Terms {
  readonly organizationId: string
  readonly podId: string
  readonly inboxUid: string
  /** Bare addresses, each once, without the sending inbox itself. */
  readonly recipients: readonly string[]
  /** What the message counts against. */
  readonly quota: Quota
  readonly claim: Claim | undefined
  /** Domain of the envelope senders; undefined: the one of the installation. */
  readonly returnPath: string | undefined
  readonly senderDomain: string
  /** What else the transaction does. @throws ApiError when the message must not be accepted after all. */
  readonly also: ((tx: Tx, sent: SentMessage) => Promise<void>) | undefined
}

export interface AcceptanceOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly blobs: BlobStore
  readonly outboundQueue: OutboundQueue
}

/** A composed message whose bytes are stored. */
interface Stored {
  readonly id: string
  readonly unsubscribable: boolean
  readonly tracked: boolean
  readonly copy: SentCopy
}

/** How long to wait for a database that failed during a commit, to learn whether the commit happened. */
const RESOLVE_MS = 5_000

/** Accepts messages: from this commit on the service is responsible for delivery. */
export class Acceptance {
  readonly #options: AcceptanceOptions

  constructor(options: AcceptanceOptions) {
    this.#options = options
  }

  /**
   * First the bytes, durably; then message, deliveries, first attempts, quota, idempotency key and event in one
   * transaction. A crash before its commit leaves only a blob, which is swept; after it the message is delivered
   * whatever happens.
   * @throws UnknownOutcomeError when the database failed during the commit and stays down; ApiError 404, 429, 409.
   */
  async accept({ id, mail, copy: details, ...traits }: ComposedMessage, terms: Terms): Promise<SentCopy> {
    const { db, blobs } = this.#options
    await announceBlob(db, id)
    const name = outboundBlob(id)
    const stored = await blobs.put(name, mail.raw, { contentType: 'message/rfc822' })
    const copy: SentCopy = {
      organization_id: terms.organizationId,
      pod_id: terms.podId,
      inbox_uid: terms.inboxUid,
      ...details,
      blob: { name, ...stored },
    }
    try {
      await db.transaction((tx) => this.#commit(tx, { id, copy, ...traits }, terms))
    } catch (error) {
      if (error instanceof ApiError) await this.#discard(id)
      if (!isInfrastructureError(error) || !(await this.#resolve(id, error))) throw error
    }
    return copy
  }

  /** A refused message leaves nothing; a blob that cannot be removed now is swept. */
  async #discard(id: string): Promise<void> {
    const { db, blobs } = this.#options
    try {
      await blobs.delete(outboundBlob(id))
      await forgetBlob(db, id)
    } catch {}
  }

  /** A caller without an idempotency key sends again after a failure, so the outcome is determined if possible. */
  async #resolve(id: string, failure: unknown): Promise<boolean> {
    try {
      return await retryThroughOutage(AbortSignal.timeout(RESOLVE_MS), () => wasAccepted(this.#options.db, id))
    } catch {
      throw new UnknownOutcomeError(failure)
    }
  }

  async #commit(tx: Tx, { copy, ...stored }: Stored, terms: Terms): Promise<void> {
    const { organizationId, podId, inboxUid, recipients, quota, claim } = terms
    const { message_id: messageId, thread_id: threadId, blob } = copy
    const acceptedAt = new Date()
    // Deleted since the gateway admitted the request.
    if (!(await holdInbox(tx, inboxUid))) throw notFound('Inbox')
    if (claim) await completeKey(tx, claim, { message_id: messageId, thread_id: threadId })
    await quota.charge(tx, acceptedAt)
    await terms.also?.(tx, { message_id: messageId, thread_id: threadId })
    const origin = { kind: 'inbox', organizationId, podId, inboxUid, threadId } as const
    const { returnPath, senderDomain } = terms
    const message = { ...stored, origin, messageId, acceptedAt, blob, copy, returnPath, senderDomain, recipients }
    await this.#options.outboundQueue.add(tx, message)
    const accepted = deliveriesTopic.event('message.accepted', copy, { time: acceptedAt })
    await this.#options.outbox.add(tx, deliveriesTopic, accepted)
  }
}
