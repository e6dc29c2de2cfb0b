import { randomUUID } from 'node:crypto'
import { type DiscardReason, topics } from '@restante/contracts'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '../database.ts'
import type { InboxScope } from '../inbound/store.ts'
import { rawMails } from '../raw/store.ts'
import { type LeasedMail, queue } from './queue.ts'

/** Ends a mail that by rule is put into no mailbox, with the fact for operators; its bytes go when nobody needs them. */
export async function discardMail(
  tx: Tx,
  outbox: Outbox,
  mail: LeasedMail,
  inbox: InboxScope,
  reason: DiscardReason,
): Promise<void> {
  const { address: _, ...scope } = inbox
  await queue.finish(tx, mail)
  await rawMails.release(tx, [mail.blob])
  await outbox.add(tx, topics['mail.inbound'], {
    id: randomUUID(),
    type: 'mail.discarded',
    subject: mail.id,
    key: inbox.inbox_uid,
    time: new Date(),
    routing: { organizationId: inbox.organization_id, podId: inbox.pod_id, inboxUid: inbox.inbox_uid },
    payload: { ...scope, inbound_id: mail.id, reason, size: mail.size },
  })
}
