import { randomUUID } from 'node:crypto'
import type { StoredBlob } from '@restante/blobs'
import { type DiscardReason, topics } from '@restante/contracts'
import type { Outbox } from '@restante/messaging'
import type { Db, Tx } from '../database.ts'
import { rawMails } from '../raw/store.ts'
import { currentTraceparent } from '../telemetry/spans.ts'
import type { Envelope } from './envelope.ts'
import { type AcceptedMail, type InboxScope, insertInbound, type NewInbound } from './store.ts'

export interface AcceptanceOptions {
  readonly db: Db
  readonly outbox: Outbox
  /** Called after rows were committed. */
  readonly announce: () => void
}

/** Where a mail goes: rows for the queue, and paused inboxes that swallow it. */
export interface Destinations {
  readonly rows: readonly NewInbound[]
  readonly paused: readonly InboxScope[]
}

/** More work for the same transaction; `false` means that the mail was accepted before. */
type Within = (tx: Tx) => Promise<boolean>
const ALWAYS: Within = async () => true

/**
 * Takes responsibility for mails. When `accept` resolves, the raw bytes are durable and one transaction holds a row
 * per recipient, the use of the bytes and the facts for operators: the peer may be told 250. When it rejects there is
 * no trace but a reservation that the sweeper clears.
 */
export class Acceptance {
  readonly #options: AcceptanceOptions

  constructor(options: AcceptanceOptions) {
    this.#options = options
  }

  /**
   * @param write makes the bytes durable under the given name, not before `reserved` resolved; it rejects when that does.
   * @returns the id under which operators find the mail's bytes.
   */
  async accept(
    envelope: Envelope,
    to: Destinations,
    write: (blob: string, reserved: Promise<void>) => Promise<Pick<StoredBlob, 'size'>>,
    within = ALWAYS,
  ): Promise<string> {
    const { db, announce } = this.#options
    const id = randomUUID()
    const blob = `inbound/${id}`
    const receivedAt = new Date()
    const reserved = rawMails.reserve(db, blob)
    // Whoever writes meets it; until then the failure has no handler.
    reserved.catch(() => {})
    const { size } = await write(blob, reserved)
    const traceparent = currentTraceparent()
    const traced = traceparent === undefined ? envelope : { ...envelope, traceparent }
    const mail = { blob, size, envelope: traced, receivedAt }
    // When this rejects, the commit may still have happened: the bytes stay, and the sweeper finds out.
    await db.transaction(async (tx) => {
      if (await within(tx)) await this.#record(tx, mail, to)
    })
    announce()
    return id
  }

  /** Records for operators that paused inboxes swallowed a mail, whose bytes are kept nowhere. `within` as above. */
  async swallow(size: number, paused: readonly InboxScope[], within = ALWAYS): Promise<void> {
    await this.#options.db.transaction(async (tx) => {
      if (await within(tx)) await this.#recordDiscarded(tx, size, paused, 'paused')
    })
  }

  async #record(tx: Tx, mail: AcceptedMail, { rows, paused }: Destinations): Promise<void> {
    await rawMails.hold(tx, mail.blob, rows.length, mail.size)
    await insertInbound(tx, mail, rows)
    await this.#recordAccepted(tx, mail, rows)
    await this.#recordDiscarded(tx, mail.size, paused, 'paused')
  }

  async #recordAccepted(tx: Tx, mail: AcceptedMail, rows: readonly NewInbound[]): Promise<void> {
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
      return [{ type: 'mail.accepted' as const, subject: row.id, time, ...addressed(row.inbox), payload }]
    })
    await this.#options.outbox.addAll(tx, topics['mail.inbound'], events)
  }

  async #recordDiscarded(tx: Tx, size: number, inboxes: readonly InboxScope[], reason: DiscardReason): Promise<void> {
    const events = inboxes.map((inbox) => {
      const { address: _, ...scope } = inbox
      const inbound_id = randomUUID()
      const payload = { ...scope, inbound_id, reason, size }
      return { type: 'mail.discarded' as const, subject: inbound_id, time: new Date(), ...addressed(inbox), payload }
    })
    await this.#options.outbox.addAll(tx, topics['mail.inbound'], events)
  }
}

/** Identity, key and routing of an event about one inbox. */
function addressed(inbox: InboxScope) {
  return {
    id: randomUUID(),
    key: inbox.inbox_uid,
    routing: { organizationId: inbox.organization_id, podId: inbox.pod_id, inboxUid: inbox.inbox_uid },
  }
}
