import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import type { Db } from '../storage/database.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import { changeOrganization, lockOrganization } from './store.ts'

/**
 * Suspends an organization for its bounces and complaints (mail 15.3), as the operator suspends one; only the operator
 * resumes it. What was counted before the operator last did that is no reason any more.
 */
export function suspendForReputation(
  db: Db,
  events: TenancyEvents,
  { organization_id, counted_since }: InternalRequestOf<'gateway.suspendOrganization'>,
): Promise<InternalResponseOf<'gateway.suspendOrganization'>> {
  return db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, organization_id)
    if (organization === undefined) return { outcome: 'deleted' }
    const { status, resumedAt } = organization
    if (status === 'suspended') return { outcome: 'suspended_before' }
    if (resumedAt !== null && resumedAt > new Date(counted_since)) {
      return { outcome: 'resumed', resumed_at: resumedAt.toISOString() }
    }
    const actor = { kind: 'system', id: 'reputation' } as const
    await changeOrganization(tx, events, organization, { status: 'suspended' }, actor)
    return { outcome: 'suspended' }
  })
}
