import type { BlobStore } from '@restante/blobs'
import type { SentMessage } from '@restante/contracts/resources'
import type { SentCopy } from '@restante/contracts/schemas'
import type { EncodedEvent, Outbox } from '@restante/messaging'
import { Batcher } from '@restante/service/concurrency'
import { type Database, retryThroughOutage, type Tx } from '@restante/service/database'
import { ApiError, isInfrastructureError, notFound } from '@restante/service/errors'
import { holdScopes } from '@restante/tenancy'
import type { OutboundMessage, OutboundQueue } from '../../delivery/outbound/outbound-queue.ts'
import { announceBlob, forgetBlob, wasAccepted } from '../../delivery/outbound/pending-blobs.ts'
import { outboundBlob } from '../../delivery/outbound/sends.ts'
import { deliveriesTopic } from '../../delivery/outcome/delivery-events.ts'
import type { ComposedMessage } from '../content/message.ts'
import { type Claim, type Completion, completeKeys, UnknownOutcomeError } from './idempotency.ts'
import { Quota } from './quotas.ts'

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
  /** Number of take-overs of the organization when the message was asked for (identity 5.1); undefined: it has no labels. */
  readonly takeOvers: number | undefined
  /** What else the transaction does. @throws ApiError when the message must not be accepted after all. */
  readonly also: ((tx: Tx, sent: SentMessage) => Promise<void>) | undefined
}

export interface AcceptanceOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly blobs: BlobStore
  readonly outboundQueue: OutboundQueue
}

/** A message whose bytes are stored, and that can be accepted. */
interface Acceptable {
  readonly id: string
  readonly unsubscribable: boolean
  readonly tracked: boolean
  readonly copy: SentCopy
  readonly terms: Terms
  readonly acceptedAt: Date
  /** The event about it. */
  readonly encoded: readonly EncodedEvent[]
}

/** How long to wait for a database that failed during a commit, to learn whether the commit happened. */
const RESOLVE_MS = 5_000
/** Most messages in one transaction. */
const TOGETHER = 50

/** Accepts messages: from this commit on the service is responsible for delivery. */
export class Acceptance {
  readonly #options: AcceptanceOptions
  readonly #announcements: Batcher<string, undefined>
  readonly #commits: Batcher<Acceptable, undefined>

  constructor(options: AcceptanceOptions) {
    this.#options = options
    this.#announcements = new Batcher({ maxItems: TOGETHER, concurrency: 2, work: (ids) => this.#announce(ids) })
    this.#commits = new Batcher({ maxItems: TOGETHER, concurrency: 2, work: (messages) => this.#accept(messages) })
  }

  /**
   * First the bytes, durably; then message, deliveries, first attempts, quota, idempotency key and event in one
   * transaction, together with messages that are accepted at the same time. A crash before its commit leaves only a blob,
   * which is swept; after it the message is delivered whatever happens. A message that must not be accepted has no effect
   * on the others: those are accepted without it.
   * @throws UnknownOutcomeError when the database failed during the commit and stays down; ApiError 404, 429, 409.
   */
  async accept({ id, mail, copy: details, ...traits }: ComposedMessage, terms: Terms): Promise<SentCopy> {
    const { blobs, outbox } = this.#options
    await this.#announcements.add(id)
    const name = outboundBlob(id)
    const stored = await blobs.put(name, mail.raw, { contentType: 'message/rfc822' })
    const copy: SentCopy = {
      organization_id: terms.organizationId,
      pod_id: terms.podId,
      inbox_uid: terms.inboxUid,
      ...details,
      ...(terms.takeOvers !== undefined && { take_overs: terms.takeOvers }),
      blob: { name, ...stored },
    }
    const acceptedAt = new Date()
    const accepted = deliveriesTopic.event('message.accepted', copy, { time: acceptedAt })
    const encoded = outbox.encode(deliveriesTopic, [accepted])
    try {
      await this.#commits.add({ id, copy, ...traits, terms, acceptedAt, encoded })
    } catch (error) {
      if (error instanceof ApiError) await this.#discard(id)
      if (!isInfrastructureError(error) || !(await this.#resolve(id, error))) throw error
    }
    return copy
  }

  async #announce(ids: readonly string[]): Promise<undefined[]> {
    await announceBlob(this.#options.db, ...ids)
    return ids.map(() => undefined)
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

  /** @throws ApiError when one of several must not be accepted; each is then tried alone. */
  async #accept(messages: readonly Acceptable[]): Promise<undefined[]> {
    await this.#options.db.transaction((tx) => this.#commit(tx, messages))
    return messages.map(() => undefined)
  }

  async #commit(tx: Tx, messages: readonly Acceptable[]): Promise<void> {
    const { outboundQueue, outbox } = this.#options
    // Deleted since the gateway admitted the request.
    const inboxes = messages.map(({ terms }) => terms.inboxUid)
    if (!(await holdScopes(tx, inboxes))) throw notFound('Inbox')
    await completeKeys(tx, messages.flatMap(completionOf))
    const quotas = messages.map(({ terms }) => terms.quota)
    await Quota.charge(tx, quotas, new Date())
    await settled(messages.map(({ terms, copy }) => terms.also?.(tx, sentOf(copy))))
    await Promise.all([
      outboundQueue.add(tx, ...messages.map(outboundOf)),
      outbox.record(
        tx,
        messages.flatMap(({ encoded }) => encoded),
      ),
    ])
  }
}

function sentOf({ message_id, thread_id }: SentCopy): SentMessage {
  return { message_id, thread_id }
}

function completionOf({ terms: { claim }, copy }: Acceptable): Completion[] {
  return claim ? [{ claim, response: sentOf(copy) }] : []
}

function outboundOf({ id, copy, terms, unsubscribable, tracked, acceptedAt }: Acceptable): OutboundMessage {
  const { organizationId, podId, inboxUid, recipients, returnPath, senderDomain } = terms
  const { message_id: messageId, thread_id: threadId, blob } = copy
  const origin = { kind: 'inbox', organizationId, podId, inboxUid, threadId } as const
  const traits = { unsubscribable, tracked, returnPath, senderDomain }
  return { id, origin, messageId, acceptedAt, blob, copy, ...traits, recipients }
}

/** Waits for all of them even when one fails: none may use the transaction after its end. @throws the first failure. */
async function settled(works: readonly (Promise<void> | undefined)[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason
}
