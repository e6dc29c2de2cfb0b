import { topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { OpenImage } from '@restante/mime'
import { type Database, sql } from '@restante/service/database'

interface Opened {
  readonly organization_id: string | null
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly thread_id: string | null
  readonly message_id: string
  readonly opened_at: Date | null
}

const OPEN = sql<Opened, [sendId: string]>(`
update sends
   set opened_at = now()
 where id = $1 and tracked and opened_at is null
returning organization_id, pod_id, inbox_uid, thread_id, message_id, opened_at`)

export interface OpensOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly openImage: OpenImage
}

/** Records the first time that the image of a message is loaded (mail 15.4). */
export class Opens {
  readonly #options: OpensOptions

  constructor(options: OpensOptions) {
    this.#options = options
  }

  /** Records an opening and its event, once. A token that is unknown, altered, or of a deleted message changes nothing. */
  async record(token: string): Promise<void> {
    const { db, outbox, openImage } = this.#options
    const sendId = openImage.messageOf(token)
    if (sendId === undefined) return
    const topic = topics['mail.deliveries']
    await db.transaction(async (tx) => {
      const [opened] = await tx.query(OPEN, sendId)
      if (!opened?.opened_at) return
      const { opened_at: time, organization_id, pod_id, inbox_uid, thread_id, message_id } = opened
      if (organization_id === null || pod_id === null || inbox_uid === null || thread_id === null) return
      const about = { organization_id, pod_id, inbox_uid, message_id, thread_id, timestamp: time.toISOString() }
      await outbox.add(tx, topic, topic.event('delivery.opened', about, { time }))
    })
  }
}
