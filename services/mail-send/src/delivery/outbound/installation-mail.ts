import type { ComposedMail } from '@restante/mime'
import { type Database, sql } from '@restante/service/database'
import type { OutboundContent } from './outbound-content.ts'
import type { OutboundQueue } from './outbound-queue.ts'
import { announceBlob } from './pending-blobs.ts'

export interface InstallationMailOptions {
  readonly db: Database
  readonly content: OutboundContent
  readonly outboundQueue: OutboundQueue
  /** Domain that it is from. */
  readonly domain: string
}

const LOCK = sql<{ held: unknown }, [id: string]>('select pg_advisory_xact_lock(hashtextextended($1, 0)) as held')
const FIND = sql<{ id: string }, [id: string]>('select id from sends where id = $1')

/**
 * Queues mail of the installation itself: it belongs to no inbox, no copy is kept, no event is published, and its bytes
 * are sealed in the blob store.
 */
export class InstallationMail {
  readonly #options: InstallationMailOptions

  constructor(options: InstallationMailOptions) {
    this.#options = options
  }

  /** Whether mail to an address is delivered to an inbox here, which could not read what is sealed. */
  isInside(address: string): boolean {
    return this.#options.outboundQueue.isInside(address)
  }

  /** Queues the mail, durably; once per id, however often it is called. */
  async queue(id: string, recipient: string, compose: () => Promise<ComposedMail>): Promise<void> {
    const { db, content, outboundQueue, domain } = this.#options
    if ((await db.query(FIND, id)).length > 0) return
    const { raw, messageId } = await compose()
    await announceBlob(db, id)
    await db.transaction(async (tx) => {
      // Calls with one id are serialized, so that a second blob never replaces the one that is being delivered.
      await tx.query(LOCK, id)
      if ((await tx.query(FIND, id)).length > 0) return
      const blob = await content.seal(id, raw)
      await outboundQueue.add(tx, {
        id,
        origin: { kind: 'system' },
        messageId,
        acceptedAt: new Date(),
        blob,
        copy: undefined,
        unsubscribable: false,
        tracked: false,
        returnPath: undefined,
        senderDomain: domain,
        recipients: [recipient],
      })
    })
  }
}
