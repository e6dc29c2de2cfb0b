import { compose, type DkimKeys, parseAddress } from '@restante/mime'
import { type Database, sql } from '@restante/service/database'
import { invalid } from '@restante/service/errors'
import type { OutboundContent } from '../delivery/outbound/outbound-content.ts'
import type { OutboundQueue } from '../delivery/outbound/outbound-queue.ts'
import { announceBlob } from '../delivery/outbound/pending-blobs.ts'

/** A plain text to one person. */
export interface SystemMessage {
  /** Identifies the mail: the same id is the same mail. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface SystemMailOptions {
  readonly db: Database
  readonly content: OutboundContent
  readonly outboundQueue: OutboundQueue
  readonly domain: string
  readonly sender: { readonly name: string; readonly address: string }
  readonly dkim: DkimKeys | undefined
}

const LOCK = sql<{ held: unknown }, [id: string]>('select pg_advisory_xact_lock(hashtextextended($1, 0)) as held')
const FIND = sql<{ id: string }, [id: string]>('select id from sends where id = $1')
const FAILED = sql<{ id: string }, [id: string]>(`
select s.id from sends s join deliveries d on d.send_id = s.id
 where s.id = $1 and s.organization_id is null and d.state in ('bounced', 'rejected')`)

/** Sends the codes of agent sign-up. They belong to no inbox: no copy is kept, and no event is published. */
export class SystemMail {
  readonly #options: SystemMailOptions

  constructor(options: SystemMailOptions) {
    this.#options = options
  }

  /**
   * Accepts the mail, durably; once per id, however often it is called.
   * @throws ApiError 400 when the address cannot be mailed.
   */
  async send(message: SystemMessage): Promise<void> {
    const { db, content, outboundQueue } = this.#options
    const recipient = this.#recipientOf(message.to)
    if ((await db.query(FIND, message.id)).length > 0) return
    const { raw, messageId } = await this.#compose(message, recipient)
    await announceBlob(db, message.id)
    await db.transaction(async (tx) => {
      // Calls with one id are serialized, so that a second blob never replaces the one that is being delivered.
      await tx.query(LOCK, message.id)
      if ((await tx.query(FIND, message.id)).length > 0) return
      const blob = await content.seal(message.id, raw)
      await outboundQueue.add(tx, {
        id: message.id,
        origin: { kind: 'system' },
        messageId,
        acceptedAt: new Date(),
        blob,
        copy: undefined,
        unsubscribable: false,
        tracked: false,
        returnPath: undefined,
        recipients: [recipient],
      })
    })
  }

  /** Whether the other side refused the mail permanently, or has bounced it since. */
  async hasFailed(id: string): Promise<boolean> {
    return (await this.#options.db.query(FAILED, id)).length > 0
  }

  /**
   * Inboxes here get no mail of the installation: it would be handed over to them as it is in the blob store, sealed.
   */
  #recipientOf(to: string): string {
    const result = parseAddress(to)
    if (!result.ok) throw invalid(['to'], result.problem)
    const { address } = result.address
    if (!this.#options.outboundQueue.isInside(address)) return address
    throw invalid(['to'], 'Must not be an address of this installation')
  }

  #compose({ id, subject, text }: SystemMessage, to: string) {
    const { domain, sender, dkim } = this.#options
    return compose({
      from: { name: sender.name, address: sender.address },
      to: [{ address: to }],
      subject,
      text,
      messageId: `<${id}@${domain}>`,
      date: new Date(),
      // Automatic replies must not answer a code (RFC 3834).
      serviceHeaders: { 'Auto-Submitted': 'auto-generated' },
      ...(dkim && { dkim }),
    })
  }
}
