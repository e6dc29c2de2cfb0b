import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import type { EncodedEvent, Outbox } from '@restante/messaging'
import { Batcher } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import { currentTraceparent } from '@restante/service/telemetry'
import type { RawMailBytes } from '../raw/bytes.ts'
import { rawMails } from '../raw/store.ts'
import type { WrittenMail } from '../raw/writer.ts'
import { acceptedEvents } from './accepted-event.ts'
import { discardedEvent, inboundTopic } from './discarded-event.ts'
import type { Envelope } from './envelope.ts'
import { type AcceptedMail, type InboxScope, insertInbound, type NewInbound } from './store.ts'
import { type UnsubscribeRequest, unsubscribeEvent } from './unsubscribe.ts'

export interface AcceptanceOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly bytes: Pick<RawMailBytes, 'keep'>
  /** Called after rows were committed. */
  readonly notify: () => void
}

/** Destinations of a mail: rows for the queue, paused inboxes, which drop it, and what it asks for by its recipients. */
export interface Destinations {
  readonly rows: readonly NewInbound[]
  readonly paused: readonly InboxScope[]
  readonly unsubscribed: readonly UnsubscribeRequest[]
}

/**
 * Additional work in the transaction of the acceptance. With `false`, the mail was accepted before, and nothing is
 * recorded.
 */
type Within = (tx: Tx) => Promise<boolean>
const ALWAYS: Within = async () => true

/** A mail whose bytes are written, and everything that is recorded about it. */
interface Arrived {
  readonly written: WrittenMail
  readonly mail: AcceptedMail
  readonly rows: readonly NewInbound[]
  readonly events: readonly EncodedEvent[]
}

/** Most mails in one transaction. */
const MOST = 50

/**
 * Accepts responsibility for mails. When `accept` resolves, the raw bytes are durable, and one transaction has recorded
 * a row per recipient, the references to the bytes and the events for operators, so the client may be answered with
 * 250. When it rejects, at most a reservation remains, which the sweeper removes. Mails that arrive together share a
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
   * @param destinations called when all bytes have arrived, which may be long after the first one. If it returns no
   * rows, the bytes are not needed.
   */
  async accept(
    envelope: Envelope,
    written: WrittenMail,
    destinations: () => Promise<Destinations>,
    within?: Within,
  ): Promise<void> {
    const { db, bytes, outbox, notify } = this.#options
    const { blob, size, content } = written
    const receivedAt = new Date()
    const to = await destinations().catch(async (error: unknown) => {
      // If this fails too, the reservation remains for hours, and is then swept with the bytes.
      await rawMails.abandon(db, written).catch(() => {})
      throw error
    })
    const traceparent = currentTraceparent()
    const traced = traceparent === undefined ? envelope : { ...envelope, traceparent }
    const mail = { blob, size, envelope: traced, receivedAt }
    const events = [...outbox.encode(inboundTopic, acceptedEvents(mail, to.rows)), ...this.#withoutRows(size, to)]
    const arrived = { written, mail, rows: to.rows, events }
    // If this rejects, the transaction may still have been committed, so the bytes stay; the sweeper deletes them if
    // nothing refers to them.
    if (within === undefined) await this.#arrivals.add(arrived)
    else
      await db.transaction(async (tx) => {
        if (await within(tx)) await this.#record(tx, [arrived])
      })
    if (content !== undefined && to.rows.length > 0) bytes.keep(blob, content)
    notify()
  }

  /**
   * Accepts a mail whose bytes are not stored, because no row needs them: records for operators that paused inboxes
   * dropped it, and what it asks for. `within` as above.
   */
  async acceptWithoutBytes(size: number, to: Omit<Destinations, 'rows'>, within = ALWAYS): Promise<void> {
    const { db, outbox } = this.#options
    const events = this.#withoutRows(size, to)
    if (events.length === 0) return
    await db.transaction(async (tx) => {
      if (await within(tx)) await outbox.record(tx, events)
    })
  }

  async #record(tx: Tx, arrived: readonly Arrived[]): Promise<readonly Arrived[]> {
    const uses = arrived.map(({ written, rows }) => ({ ...written, refs: rows.length }))
    const events = arrived.flatMap((one) => one.events)
    await Promise.all([rawMails.hold(tx, uses), insertInbound(tx, arrived), this.#options.outbox.record(tx, events)])
    return arrived
  }

  #withoutRows(size: number, { paused, unsubscribed }: Omit<Destinations, 'rows'>): EncodedEvent[] {
    const { outbox } = this.#options
    const discarded = paused.map((inbox) => discardedEvent(inbox, { id: randomUUID(), size }, 'paused'))
    return [
      ...outbox.encode(inboundTopic, discarded),
      ...outbox.encode(topics['mail.feedback'], unsubscribed.map(unsubscribeEvent)),
    ]
  }
}
