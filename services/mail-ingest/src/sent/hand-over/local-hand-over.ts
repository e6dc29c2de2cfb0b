import type { BlobStore } from '@restante/blobs'
import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Database, sql, type Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import type { Acceptance } from '../../inbound/acceptance.ts'
import { LoopDetectedError, type LoopRule, withoutLoops } from '../../inbound/loops.ts'
import type { RecipientLookup } from '../../inbound/recipients.ts'
import type { StorageQuota } from '../../inbound/storage-quota.ts'
import type { InboxScope } from '../../inbound/store.ts'
import { mailsDeferred } from '../../inbound/telemetry.ts'
import { store } from '../../mailbox/store.ts'
import type { InboundRates } from '../../rates/inbound-rates.ts'
import type { RawMailWriter, WrittenMail } from '../../raw/writer.ts'
import type { CopySwitches } from '../../reports/copy-switches.ts'

type HandOver = InternalRequestOf<'mail-ingest.acceptInbound'>
type Outcome = InternalResponseOf<'mail-ingest.acceptInbound'>['outcome']

type ForOperator = InternalRequestOf<'mail-ingest.acceptForOperator'>
type OperatorOutcome = InternalResponseOf<'mail-ingest.acceptForOperator'>['outcome']

type Notice = InternalRequestOf<'mail-ingest.acceptNotice'>
type NoticeOutcome = InternalResponseOf<'mail-ingest.acceptNotice'>['outcome']

/**
 * Marks of handed-over deliveries, by outcome. They are stored among the marks of processed events, and deleted with
 * them after 21 days.
 */
const MARKED_AS = { accepted: 'hand-over accepted', paused: 'hand-over paused' } as const

const FIRST_OUTCOME = sql<{ consumer: string }, [marks: readonly string[], deliveryId: string]>(
  'select consumer from consumed where consumer = any($1) and event_id = $2',
)
const MARK = sql<{ event_id: string }, [mark: string, deliveryId: string]>(
  'insert into consumed (consumer, event_id) values ($1, $2) on conflict do nothing returning event_id',
)

export interface LocalHandOverOptions {
  readonly db: Database
  readonly blobs: BlobStore
  readonly acceptance: Acceptance
  readonly writer: RawMailWriter
  readonly recipients: RecipientLookup
  readonly copies: Pick<CopySwitches, 'wants'>
  readonly rates: InboundRates
  readonly storage: StorageQuota
  /** This server's name in the trace fields that reveal a loop. */
  readonly hostname: string
  /** Of mail that was forwarded to the operator. */
  readonly forwardMark: string
  readonly log: Logger
}

/**
 * Accepts mail between two inboxes hosted here. It creates the same rows as SMTP does, with a verdict about the sender
 * that cannot be forged from outside. A delivery that is handed over again gets its first outcome and has no second
 * effect.
 */
export class LocalHandOver {
  readonly #options: LocalHandOverOptions

  constructor(options: LocalHandOverOptions) {
    this.#options = options
  }

  async accept(request: HandOver): Promise<Outcome> {
    const { recipients } = this.#options
    const first = await this.#firstOutcome(request.delivery_id)
    if (first) return first
    // Whether the inbox exists, and it and its domain accept mail, is looked up as for SMTP.
    const recipient = await recipients.findHosted(request.recipient)
    if (recipient.kind !== 'inbox' || recipient.answer.inbox_uid !== request.inbox_uid) return 'unknown'
    const { status, given: _, ...inbox } = recipient.answer
    if (await this.#isLoop(request, { inboxes: [inbox.address] })) return 'loop'
    if (status === 'deliver' && !(await this.#options.storage.hasRoom(inbox.organization_id, request.blob.size))) {
      this.#deferred('organization_storage', namedInLog(inbox))
      return 'full'
    }
    const source = { kind: 'inside', organizationId: request.sender_organization_id } as const
    const admission = await this.#options.rates.recipient(source, inbox)
    if (!admission.ok) {
      this.#deferred(admission.limit, namedInLog(inbox))
      return 'limited'
    }
    try {
      return await this.#take(request, status, inbox)
    } catch (error) {
      this.#options.rates.giveBack(admission.taken)
      throw error
    }
  }

  /** A notice about mail of an inbox, if the inbox wants it and still has the message (domains 11). */
  async acceptNotice({ message_id, ...notice }: Notice): Promise<NoticeOutcome> {
    const { copies, db } = this.#options
    if (!(await copies.wants({ organization_id: notice.organization_id, address: notice.recipient }))) return 'unwanted'
    if (!(await store.message(db, notice.inbox_uid, message_id))) return 'no_message'
    return this.accept({ ...notice, mail_from: '' })
  }

  /** Mail of an inbox here to the operator. It goes through the queue, as what arrives by SMTP does. */
  async acceptForOperator(request: ForOperator): Promise<OperatorOutcome> {
    const { delivery_id: id, recipient, mail_from, sender_organization_id: organizationId, blob } = request
    const { rates, acceptance, writer, forwardMark: mark } = this.#options
    if ((await this.#firstOutcome(id)) !== undefined) return 'accepted'
    if (blob.size > LIMITS.inbound.operatorBytes) return 'too_large'
    if (await this.#isLoop(request, { inboxes: [], mark })) return 'loop'
    const admission = await rates.operator({ kind: 'inside', organizationId })
    if (!admission.ok) {
      this.#deferred(admission.limit, { recipient: 'operator' })
      return 'limited'
    }
    try {
      const rows = [{ id, kind: 'operator' as const, recipient }]
      const to = async () => ({ rows, paused: [], unsubscribed: [] })
      const mark = (tx: Tx) => this.#mark(tx, 'accepted', id)
      await acceptance.accept({ via: 'internal', mail_from }, await writer.copy(blob), to, mark)
      return 'accepted'
    } catch (error) {
      rates.giveBack(admission.taken)
      throw error
    }
  }

  async #take(request: HandOver, status: 'deliver' | 'paused', inbox: InboxScope): Promise<Outcome> {
    const { acceptance, storage } = this.#options
    const outcome = status === 'paused' ? 'paused' : 'accepted'
    const mark = (tx: Tx) => this.#mark(tx, outcome, request.delivery_id)
    if (outcome === 'paused') {
      await acceptance.acceptWithoutBytes(request.blob.size, { paused: [inbox], unsubscribed: [] }, mark)
      return outcome
    }
    const row = { id: request.delivery_id, kind: 'mail' as const, recipient: request.recipient, inbox }
    const written = await this.#write(request)
    const to = async () => ({ rows: [row], paused: [], unsubscribed: [] })
    await acceptance.accept({ via: 'internal', mail_from: request.mail_from }, written, to, mark)
    storage.add(inbox.organization_id, written.size)
    return outcome
  }

  async #write({ blob, fields }: HandOver): Promise<WrittenMail> {
    const { blobs, writer } = this.#options
    return fields === undefined ? writer.copy(blob) : writer.write(following(fields, await blobs.get(blob.name)))
  }

  async #isLoop({ blob }: Pick<HandOver, 'blob'>, rule: Omit<LoopRule, 'hostname'>): Promise<boolean> {
    const { blobs, hostname } = this.#options
    const header = await blobs.get(blob.name, { start: 0, end: LIMITS.mime.headerBytes })
    try {
      for await (const _ of withoutLoops(header, { hostname, ...rule }));
      return false
    } catch (error) {
      if (error instanceof LoopDetectedError) return true
      throw error
    } finally {
      header.destroy()
    }
  }

  #deferred(limit: string, about: Readonly<Record<string, unknown>>): void {
    mailsDeferred.inc({ limit })
    this.#options.log.info({ ...about, limit }, 'hand-over deferred by a limit')
  }

  async #firstOutcome(deliveryId: string): Promise<Outcome | undefined> {
    const [row] = await this.#options.db.query(FIRST_OUTCOME, Object.values(MARKED_AS), deliveryId)
    if (!row) return undefined
    return row.consumer === MARKED_AS.paused ? 'paused' : 'accepted'
  }

  async #mark(tx: Tx, outcome: keyof typeof MARKED_AS, deliveryId: string): Promise<boolean> {
    return (await tx.query(MARK, MARKED_AS[outcome], deliveryId)).length > 0
  }
}

async function* following(fields: string, message: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield Buffer.from(fields)
  yield* message
}

/** The ids of an inbox, without its address. */
function namedInLog({ inbox_uid, organization_id }: InboxScope): Readonly<Record<string, string>> {
  return { inbox_uid, organization_id }
}
