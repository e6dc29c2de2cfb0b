import { buffer } from 'node:stream/consumers'
import { BlobNotFoundError, type BlobStore } from '@restante/blobs'
import type { BlobReference } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { AttemptContext, Timers } from '@restante/jobs'
import { composeBounceNotice } from '@restante/mime'
import { backoff } from '@restante/service/concurrency'
import { type Database, hashedUuid, type Tx } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { announceBlob, forgetBlob } from '../delivery/outbound/pending-blobs.ts'
import { outboundBlob } from '../delivery/outbound/sends.ts'
import type { NoticeTarget, SendTimers } from '../timers/kinds.ts'
import { type FailedDelivery, findFailed } from './store.ts'

export interface BounceNoticesOptions {
  readonly db: Database
  readonly blobs: BlobStore
  readonly timers: Timers<SendTimers>
  readonly gateway: ServiceClient<'mail-send'>
  readonly mailIngest: ServiceClient<'mail-send'>
  /** Name of this server in notices, as in EHLO. */
  readonly name: string
  /** Of the address that notices come from. */
  readonly domain: string
}

const ATTEMPT_MS = 60_000
const ACCEPT_MS = 15_000
const RETRY = { firstMs: 1_000, longestMs: 10 * 60_000 }
/** About half a day of failures of this installation. */
const MOST_ATTEMPTS = 80
/** Most of a header that is attached. */
const HEADER_BYTES = 64 * 1024

/**
 * Tells the inbox that sent a message by mail that a recipient refused it, or that its retries are used up (RFC 3464,
 * domains 11), as another server does for mail that it gave up. The mailbox decides whether the inbox wants it. A notice
 * is handed over and not sent: it has no delivery, so it cannot fail into another one. Its id follows from the delivery,
 * by which the mailbox recognises one that is handed over again.
 */
export class BounceNotices {
  readonly #options: BounceNoticesOptions

  constructor(options: BounceNoticesOptions) {
    this.#options = options
  }

  /** Registers the handler of the timers. To be called before they start. */
  register(): void {
    const retry = (attempt: number) => new Date(Date.now() + backoff(attempt, RETRY))
    const work = { concurrency: 4, attemptMs: ATTEMPT_MS, retry, maxAttempts: MOST_ATTEMPTS }
    this.#options.timers.work('bounce-notice', work, (context) => this.#make(context))
  }

  /** Notices about deliveries, made as soon as the transaction that records their end has committed. */
  async schedule(tx: Tx, deliveryIds: readonly string[]): Promise<void> {
    if (deliveryIds.length === 0) return
    await this.#options.timers.scheduleAll(
      tx,
      deliveryIds.map((id) => ({ kind: 'bounce-notice' as const, key: id, payload: { delivery_id: id } })),
    )
  }

  async #make(context: AttemptContext<NoticeTarget>): Promise<void> {
    const { delivery_id: deliveryId } = context.timer.payload
    const failed = await findFailed(this.#options.db, deliveryId)
    if (!failed || (await this.#handOver(deliveryId, failed)) === 'over') return
    const { attempt } = context.timer
    await context.run((tx) => context.postpone(tx, new Date(Date.now() + backoff(attempt, RETRY))))
  }

  async #handOver(deliveryId: string, failed: FailedDelivery): Promise<'over' | 'soon'> {
    const { gateway, mailIngest } = this.#options
    const { origin, messageId, acceptedAt } = failed.send
    if (origin.kind === 'system') return 'over'
    const { organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid } = origin
    const asked = { organization_id, inboxes: [inbox_uid], pods: [] }
    const { inboxes } = await gateway.call('gateway.lookupInboxes', asked)
    const inbox = inboxes.find((one) => one.inbox_uid === inbox_uid)
    if (!inbox) return 'over'
    const id = noticeIdOf(deliveryId)
    const blob = await this.#write(id, failed, inbox.address)
    const scope = { organization_id, pod_id, inbox_uid }
    const notice = { delivery_id: id, ...scope, recipient: inbox.address, message_id: messageId, blob }
    const { outcome } = await mailIngest.call('mail-ingest.acceptNotice', notice, ACCEPT_MS)
    await this.#forget(id)
    // Deleted by now, or not yet placed: which of the two shows in a while.
    const awaited = Date.now() - acceptedAt.getTime() < LIMITS.send.copyAwaited
    return outcome === 'no_message' && awaited ? 'soon' : 'over'
  }

  /** Bytes that are left after a crash are swept, because no message has the id. */
  async #write(id: string, failed: FailedDelivery, to: string): Promise<BlobReference> {
    const { db, blobs, name: reportingMta, domain } = this.#options
    const { send, ...verdict } = failed
    const raw = await composeBounceNotice({
      ...verdict,
      from: `mailer-daemon@${domain}`,
      to,
      messageId: `<${id}@${domain}>`,
      date: new Date(),
      reportingMta,
      original: {
        messageId: send.messageId,
        acceptedAt: send.acceptedAt,
        header: await this.#headerOf(send.id),
      },
    })
    await announceBlob(db, id)
    const name = outboundBlob(id)
    return { name, ...(await blobs.put(name, raw, { contentType: 'message/rfc822' })) }
  }

  async #forget(id: string): Promise<void> {
    const { db, blobs } = this.#options
    await blobs.delete(outboundBlob(id))
    await forgetBlob(db, id)
  }

  /** The header of the original, cut after a whole line; undefined when its bytes are deleted. */
  async #headerOf(sendId: string): Promise<Buffer | undefined> {
    try {
      const head = await buffer(await this.#options.blobs.get(outboundBlob(sendId), { start: 0, end: HEADER_BYTES }))
      const end = head.indexOf('\r\n\r\n')
      return head.subarray(0, (end < 0 ? head.lastIndexOf('\r\n') : end) + 2)
    } catch (error) {
      if (error instanceof BlobNotFoundError) return undefined
      throw error
    }
  }
}

/** The id of the notice follows from that of the delivery. */
export function noticeIdOf(deliveryId: string): string {
  return hashedUuid(`bounce notice ${deliveryId}`)
}
