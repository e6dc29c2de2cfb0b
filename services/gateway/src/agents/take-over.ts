import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts/vocabulary'
import { retryThroughOutage } from '@restante/service/database'
import type { Actor } from '../audit/actor.ts'
import { recordAudit } from '../audit/log.ts'
import { revokeCredentials } from '../credentials/store.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { endInheritance, handOnInboxes } from '../inboxes/inheritance.ts'
import type { Tx } from '../storage/database.ts'
import { organizationChanged, organizationTakenOver, type TenancyEvents } from '../tenancy/events.ts'

/** Identifies one take-over of one organization. */
export interface TakeOver {
  readonly organizationId: string
  readonly takeOvers: number
}

export interface TakingOver {
  readonly events: TenancyEvents
  readonly addresses: { readonly defaultDisplayName: string | undefined }
}

/** The credential that takes an organization over, and whether the human has confirmed it. */
export interface Successor {
  readonly credentialId: string
  /** Whether the human has confirmed it by now. */
  readonly verified: boolean
}

/**
 * Transfers a locked organization to one credential (identity 5.1): every other one ends, paused inboxes accept mail
 * again, and the number of take-overs is incremented, by which each service recognises what earlier credentials
 * created. Names and metadata that they set stay until the human confirms the successor. `finishTakeOver` must follow
 * the commit.
 */
export async function takeOver(
  tx: Tx,
  { events, addresses }: TakingOver,
  organization: Organization,
  successor: Successor,
  actor: Actor,
  now: Date,
): Promise<{ organization: Organization; takeOver: TakeOver }> {
  const { id } = organization
  await handOnInboxes(tx, events, id)
  const others = { organizationId: id, id: { not: successor.credentialId } }
  await revokeCredentials(tx, events, others, { actor, now, action: 'credential.rotated', because: 'taken over' })
  const orm = await tx.orm()
  const changed = await orm.organization.update({
    where: { id },
    data: { takeOvers: { increment: 1 }, takenOverAt: now, version: { increment: 1 }, updatedAt: now },
  })
  const details = { after: { credential_id: successor.credentialId, verified: successor.verified } }
  await recordAudit(tx, actor, now, { action: 'organization.taken_over', organizationId: id, details })
  if (successor.verified) await endInheritance(tx, events, id, addresses.defaultDisplayName)
  await events.record(tx, organizationChanged(changed), organizationTakenOver(changed, successor, now))
  return { organization: changed, takeOver: { organizationId: id, takeOvers: changed.takeOvers } }
}

/**
 * The human has confirmed the credential that took a locked organization over earlier: settings from before the
 * take-over are removed, here and in every service that consumes the event.
 */
export async function confirmTakeOver(
  tx: Tx,
  { events, addresses }: TakingOver,
  organization: Organization,
  credentialId: string,
  now: Date,
): Promise<void> {
  await endInheritance(tx, events, organization.id, addresses.defaultDisplayName)
  await events.record(tx, organizationTakenOver(organization, { credentialId, verified: true }, now))
}

/** Asks the owners of webhooks and of streams to end those that keys from before a take-over have. */
export type EndSubscriptions = (takeOver: TakeOver) => Promise<void>

/** How long an outage of these owners is waited out between the commit and the answer. */
const SUBSCRIPTIONS_TIMEOUT_MS = 10_000

/**
 * Repeats the end of subscriptions for the take-over in force, which changes nothing. If one of their owners is down, the
 * request fails here with 503, before the organization is changed instead of after it.
 * @throws UpstreamError
 */
export function requireSubscriptionOwners(endSubscriptions: EndSubscriptions, inForce: TakeOver): Promise<void> {
  return endSubscriptions(inForce)
}

/**
 * Completes a committed take-over before it is answered. Afterwards no webhook of an earlier key is left, what happens
 * reaches none of its streams, polls and cursors, and no process caches such a key (identity 10.3). After a crash, or
 * when this throws, the event has the same effect, but the client gets no answer.
 * @throws UpstreamError when the owner of webhooks or of streams is down for too long.
 */
export async function finishTakeOver(endSubscriptions: EndSubscriptions, done: TakeOver): Promise<void> {
  const timeout = AbortSignal.timeout(SUBSCRIPTIONS_TIMEOUT_MS)
  await Promise.all([retryThroughOutage(timeout, () => endSubscriptions(done)), wait(LIMITS.apiKey.cache)])
}
