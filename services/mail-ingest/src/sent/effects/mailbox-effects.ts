import type { Tx } from '@restante/service/database'
import { lockMailboxes } from '../../mailbox/lock.ts'

/** What is to be done in one mailbox. */
export interface MailboxEffect {
  readonly inboxUid: string
  readonly effect: (tx: Tx) => Promise<void>
}

/**
 * Does several things in mailboxes, which the transaction locks: those of one mailbox one after the other, in their order,
 * and those of different ones at the same time, so that their statements share packets.
 */
export async function inMailboxes(tx: Tx, effects: readonly MailboxEffect[]): Promise<void> {
  const mailboxes = Map.groupBy(effects, ({ inboxUid }) => inboxUid)
  await lockMailboxes(tx, [...mailboxes.keys()])
  const works = [...mailboxes.values()].map(async (own) => {
    for (const { effect } of own) await effect(tx)
  })
  // Waits for all of them even when one fails: none may use the transaction after its end.
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason
}
