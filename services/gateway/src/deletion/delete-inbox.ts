import type { Actor } from '../audit/actor.ts'
import { revokeCredentials } from '../credentials/store.ts'
import type { Inbox } from '../generated/prisma/client.ts'
import { markInboxDeleted } from '../inboxes/store.ts'
import type { Tx } from '../storage/database.ts'
import type { GatewaySchedule } from '../storage/timers.ts'
import { inboxDeleted, type TenancyEvents } from '../tenancy/events.ts'
import { awaitPurge } from './inbox-purge.ts'

export interface InboxDeletion {
  readonly events: TenancyEvents
  readonly timers: GatewaySchedule
  /** How long a deleted address is reserved against other organizations, in milliseconds. */
  readonly retiredAddressMs: number
}

/**
 * Deletes a locked inbox together with its keys: after the commit it can no longer be addressed, and every service that
 * stores its data receives the event (identity 8.6). The caller holds the organization's lock, taken before the
 * inbox's, in the same order as creating: two orders would deadlock.
 */
export async function deleteInbox(
  tx: Tx,
  { events, timers, retiredAddressMs }: InboxDeletion,
  target: Inbox,
  actor: Actor,
  now: Date,
): Promise<void> {
  await markInboxDeleted(tx, target, now, new Date(now.getTime() + retiredAddressMs))
  await awaitPurge(tx, timers, target.uid)
  await revokeCredentials(tx, events, { inboxUid: target.uid }, { actor, now, because: 'inbox deleted' })
  await events.record(tx, inboxDeleted(target, now))
}
