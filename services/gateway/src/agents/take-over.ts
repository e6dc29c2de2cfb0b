import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts'
import { retryThroughOutage } from '@restante/service'
import type { Actor } from '../audit/actor.ts'
import { recordAudit } from '../audit/log.ts'
import { revokeCredentials } from '../credentials/store.ts'
import type { Tx } from '../database.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { endInheritance, handOnInboxes } from '../inboxes/inheritance.ts'
import { organizationChanged, organizationTakenOver, type TenancyEvents } from '../tenancy/events.ts'

/** Which take-over of which organization. */
export interface TakeOver {
  readonly organizationId: string
  readonly takeOvers: number
}

export interface TakingOver {
  readonly events: TenancyEvents
  readonly addresses: { readonly defaultDisplayName: string | undefined }
}

/** What takes an organization over, and how far the human is with it. */
export interface Successor {
  readonly credentialId: string
  /** Whether the human has confirmed it by now. */
  readonly verified: boolean
}

/**
 * Hands an organization that is held over to one credential (identity 5.1): every other one ends, paused inboxes take
 * mail again, and the number of take-overs grows, by which each service tells what earlier credentials made. Names and
 * metadata that they set stay until the human confirms the successor. `finishTakeOver` is to follow the commit.
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
 * The human has confirmed the credential that took a held organization over earlier: what was set before the take-over
 * goes, here and with every service that hears of it.
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

/** Deletes the webhooks of an organization that keys from before a take-over made; asks their owner. */
export type EndWebhooks = (takeOver: TakeOver) => Promise<void>

/** How long the owner of webhooks may be away between the commit and the answer. */
const PATIENCE_MS = 10_000

/**
 * Asks the owner of webhooks for the take-over that is in force, which changes nothing: when it is away, the request ends
 * here with 503 instead of after the change.
 * @throws UpstreamError
 */
export function demandWebhookOwner(endWebhooks: EndWebhooks, inForce: TakeOver): Promise<void> {
  return endWebhooks(inForce)
}

/**
 * Completes a take-over that is committed, ahead of its answer. Afterwards no webhook of an earlier key is left, and the
 * second is over for which another process may remember such a key, or hold its stream open (identity 10.3). After a
 * crash, or where this throws, the event does the same; the client has no answer then.
 * @throws UpstreamError when the owner of webhooks is away for too long.
 */
export async function finishTakeOver(endWebhooks: EndWebhooks, done: TakeOver): Promise<void> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  await Promise.all([retryThroughOutage(patience, () => endWebhooks(done)), wait(LIMITS.apiKey.cache)])
}
