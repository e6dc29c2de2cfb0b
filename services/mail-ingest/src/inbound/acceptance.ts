import { randomUUID } from 'node:crypto'
import type { StoredBlob } from '@restante/blobs'
import type { DiscardReason } from '@restante/contracts/events'
import type { EncodedEvent, Outbox } from '@restante/messaging'
import { Batcher } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import { blobOf, type ReservedNames } from '../raw/reserved-names.ts'
import { rawMails } from '../raw/store.ts'
import { discardedEvent, inboundTopic } from './discarded-event.ts'
import type { Envelope } from './envelope.ts'
import { currentTraceparent } from './spans.ts'
import { type AcceptedMail, type InboxScope, insertInbound, type NewInbound } from './store.ts'
import { UnusableContentError } from './unusable-content-error.ts'

export interface AcceptanceOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly names: ReservedNames
  /** Called after rows were committed. */
  readonly notify: () => void
}

/** Destinations of a mail: rows for the queue, and paused inboxes, which drop it. */
export interface Destinations {
  readonly rows: readonly NewInbound[]
  readonly paused: readonly InboxScope[]
}

/**
 * Additional work in the transaction of the acceptance. With `false`, the mail was accepted before, and nothing is
 * recorded.
 */
type Within = (tx: Tx) => Promise<boolean>
const ALWAYS: Within = async () => true

/** A mail whose bytes are durable, and everything that is recorded about it. */
interface Arrived {
  readonly mail: AcceptedMail
  readonly rows: readonly NewInbound[]
  readonly events: readonly EncodedEvent[]
}

/** Most mails in one transaction. */
const MOST = 50

/**
 * Accepts responsibility for mails. When `accept` resolves, the raw bytes are durable, and one transaction has recorded
 * a row per recipient, the references to the bytes and the events for operators, so the client may be answered with
 * 250. When it rejects, only a reservation remains, which the sweeper removes. Mails that arrive together share a
 * transaction.
 */
export class Acceptance {
  readonly #options: AcceptanceOptions
  readonly #arrivals: Batcher<Arrived, Arrived>

  constructor(options: AcceptanceOptions) {
    const { db } = options
    this.#options = options
    this.#arrivals = new Batcher({
      maxItems: MOST,
      work: (arrived) => db.transaction((tx) => this.#record(tx, arrived)),
    })
  }

  /**
   * @param destinations called when the bytes are durable, which may be long after the first byte. If it returns no
   * rows, the bytes are not needed.
   * @param write stores the bytes durably under the given name. It throws UnusableContentError if nothing was written:
   * another mail may then get the name.
   * @returns the id under which operators find the bytes of the mail.
   */
  async accept(
    envelope: Envelope,
    destinations: () => Promise<Destinations>,
    write: (blob: string) => Promise<Pick<StoredBlob, 'size'>>,
    within?: Within,
  ): Promise<string> {
    const { db, names, notify } = this.#options
    const name = await names.take()
    const { id } = name
    const blob = blobOf(id)
    const receivedAt = new Date()
    const { size } = await write(blob).catch((error: unknown) => {
      if (error instanceof UnusableContentError) names.giveBack(name)
      throw error
    })
    const to = await destinations().catch(async (error: unknown) => {
      // If this fails too, the reservation remains for hours, and is then swept with the bytes.
      await rawMails.abandon(db, blob, size).catch(() => {})
      throw error
    })
    const traceparent = currentTraceparent()
    const traced = traceparent === undefined ? envelope : { ...envelope, traceparent }
    const mail = { blob, size, envelope: traced, receivedAt }
    const events = [...this.#accepted(mail, to.rows), ...this.#discarded(size, to.paused, 'paused')]
    const arrived = { mail, rows: to.rows, events }
    // If this rejects, the transaction may still have been committed, so the bytes stay; the sweeper deletes them if
    // nothing refers to them.
    if (within === undefined) await this.#arrivals.add(arrived)
    else
      await db.transaction(async (tx) => {
        if (await within(tx)) await this.#record(tx, [arrived])
      })
    notify()
    return id
  }

  /** Records for operators that paused inboxes dropped a mail, whose bytes are not stored. `within` as above. */
  async drop(size: number, paused: readonly InboxScope[], within = ALWAYS): Promise<void> {
    const { db, outbox } = this.#options
    const events = this.#discarded(size, paused, 'paused')
    await db.transaction(async (tx) => {
      if (await within(tx)) await outbox.record(tx, events)
    })
  }

  async #record(tx: Tx, arrived: readonly Arrived[]): Promise<readonly Arrived[]> {
    const uses = arrived.map(({ mail: { blob, size }, rows }) => ({ blob, size, refs: rows.length }))
    const events = arrived.flatMap((one) => one.events)
    await Promise.all([rawMails.hold(tx, uses), insertInbound(tx, arrived), this.#options.outbox.record(tx, events)])
    return arrived
  }

  #accepted(mail: AcceptedMail, rows: readonly NewInbound[]): EncodedEvent[] {
    const { envelope, receivedAt: time } = mail
    const how =
      envelope.via === 'smtp'
        ? { via: envelope.via, peer: envelope.peer, helo: envelope.helo, tls: envelope.tls !== undefined }
        : { via: envelope.via }
    const events = rows.flatMap((row) => {
      if (row.kind !== 'mail') return []
      const { address: _, ...scope } = row.inbox
      const payload = {
        ...scope,
        inbound_id: row.id,
        recipient: row.recipient,
        mail_from: envelope.mail_from,
        ...how,
        size: mail.size,
        accepted_at: time.toISOString(),
      }
      return [inboundTopic.event('mail.accepted', payload, { time })]
    })
    return this.#options.outbox.encode(inboundTopic, events)
  }

  #discarded(size: number, inboxes: readonly InboxScope[], reason: DiscardReason): EncodedEvent[] {
    const events = inboxes.map((inbox) => discardedEvent(inbox, { id: randomUUID(), size }, reason))
    return this.#options.outbox.encode(inboundTopic, events)
  }
}
