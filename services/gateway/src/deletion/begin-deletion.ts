import { forgetCode, lockOwnCode } from '../agents/codes.ts'
import type { Actor } from '../audit/actor.ts'
import { organizationFacts, recordAudit } from '../audit/log.ts'
import { revokeCredentials } from '../credentials/store.ts'
import type { Organization } from '../generated/prisma/client.ts'
import type { Tx } from '../storage/database.ts'
import type { GatewaySchedule } from '../storage/timers.ts'
import type { TenancyEvents } from '../tenancy/events.ts'

export interface DeletionBeginning {
  readonly events: TenancyEvents
  readonly timers: GatewaySchedule
}

/**
 * Begins to delete a locked organization. After the commit no key authenticates for it, its addresses accept no mail,
 * nothing can be created in it, and its human may sign up again; a timer of the same transaction does the rest.
 */
export async function beginDeletion(
  tx: Tx,
  { events, timers }: DeletionBeginning,
  organization: Organization,
  actor: Actor,
  now: Date,
): Promise<void> {
  const { id } = organization
  await revokeCredentials(tx, events, { organizationId: id }, { actor, now, because: 'organization deleted' })
  const code = await lockOwnCode(tx, id)
  if (code !== undefined) await forgetCode(tx, timers, code)
  const orm = await tx.orm()
  await orm.organization.update({
    where: { id },
    data: { deletingAt: now, humanEmail: null, humanName: null, updatedAt: now },
  })
  const details = { before: organizationFacts(organization) }
  await recordAudit(tx, actor, now, { action: 'organization.deleting', organizationId: id, details })
  await timers.schedule(tx, { kind: 'organization-deletion', key: id, payload: {} })
}
