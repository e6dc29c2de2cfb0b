import type { BlobStore } from '@restante/blobs'
import type { InternalRequestOf } from '@restante/contracts'
import { sql } from '@restante/service'
import type { Db, Tx } from '../database.ts'
import type { Acceptance } from '../inbound/acceptance.ts'
import type { RecipientLookup } from '../smtp/recipients.ts'

type HandOver = InternalRequestOf<'mail-ingest.acceptInbound'>
type Outcome = 'accepted' | 'paused' | 'unknown'

/** Marks of deliveries, by outcome, beside those of events and swept with them after 21 days. */
const MARKED_AS = { accepted: 'hand-over accepted', paused: 'hand-over paused' } as const

const FIRST_OUTCOME = sql<{ consumer: string }, [marks: readonly string[], deliveryId: string]>(
  'select consumer from consumed where consumer = any($1) and event_id = $2',
)
const MARK = sql<{ event_id: string }, [mark: string, deliveryId: string]>(
  'insert into consumed (consumer, event_id) values ($1, $2) on conflict do nothing returning event_id',
)

export interface LocalHandOverOptions {
  readonly db: Db
  readonly blobs: BlobStore
  readonly acceptance: Acceptance
  readonly recipients: RecipientLookup
}

/**
 * Takes mail between two inboxes hosted here, with the same rows as SMTP makes and a verdict that nobody outside can
 * forge. A delivery that is handed over again gets its first outcome and has no second effect.
 */
export class LocalHandOver {
  readonly #options: LocalHandOverOptions

  constructor(options: LocalHandOverOptions) {
    this.#options = options
  }

  async accept(request: HandOver): Promise<Outcome> {
    const { acceptance, blobs, recipients } = this.#options
    const first = await this.#firstOutcome(request.delivery_id)
    if (first) return first
    // Whether the inbox is there and takes mail is read from its owner's row, as for SMTP.
    const answer = await recipients.ask(request.recipient)
    if (answer.status === 'unknown' || answer.inbox_uid !== request.inbox_uid) return 'unknown'
    const { status, given: _, ...inbox } = answer
    const outcome = status === 'paused' ? 'paused' : 'accepted'
    const mark = (tx: Tx) => this.#mark(tx, outcome, request.delivery_id)
    if (outcome === 'paused') {
      await acceptance.swallow(request.blob.size, [inbox], mark)
      return outcome
    }
    const row = { id: request.delivery_id, kind: 'mail' as const, recipient: request.recipient, inbox }
    const copy = async (blob: string): Promise<{ size: number }> => {
      await blobs.copy(request.blob.name, blob)
      return { size: request.blob.size }
    }
    const to = async () => ({ rows: [row], paused: [] })
    await acceptance.accept({ via: 'internal', mail_from: request.mail_from }, to, copy, mark)
    return outcome
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
