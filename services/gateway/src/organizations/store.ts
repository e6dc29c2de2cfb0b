import { randomUUID } from 'node:crypto'
import type { OwnSendLimits } from '@restante/contracts/access'
import { sql } from '@restante/service/database'
import type { Actor } from '../audit/actor.ts'
import { difference, organizationFacts, recordAudit } from '../audit/log.ts'
import type { Organization, Pod } from '../generated/prisma/client.ts'
import type { Tx } from '../storage/database.ts'
import { organizationChanged, podChanged, type TenancyEvents } from '../tenancy/events.ts'

const LOCK = sql<{ id: string }, [id: string]>(
  'select id from organizations where id = $1 and deleting_at is null for no key update',
)

/**
 * Locks an organization's row until the end of the transaction. Everything that counts against a limit of the
 * organization, or changes its state, takes this lock first, so parallel requests cannot exceed a limit together. An
 * organization whose deletion has begun is not found.
 */
export async function lockOrganization(tx: Tx, id: string): Promise<Organization | undefined> {
  const [held] = await tx.query(LOCK, id)
  if (held === undefined) return undefined
  const orm = await tx.orm()
  return orm.organization.findUniqueOrThrow({ where: { id } })
}

export interface NewOrganization {
  readonly authenticationType?: 'agent_unverified'
  readonly humanEmail?: string | undefined
  readonly humanName?: string | undefined
  readonly signUpSource?: string | undefined
  readonly signUpReferrer?: string | undefined
  readonly inboxLimit?: number | undefined
  readonly domainLimit?: number | undefined
  readonly credentialLimit?: number | undefined
}

/** Creates an organization with its default pod, whose id is the organization's own (identity 1.1). */
export async function createOrganization(
  tx: Tx,
  events: TenancyEvents,
  given: NewOrganization,
  actor: Actor,
  now: Date,
): Promise<Organization> {
  const orm = await tx.orm()
  const id = randomUUID()
  const organization = await orm.organization.create({
    data: {
      id,
      authenticationType: given.authenticationType ?? null,
      humanEmail: given.humanEmail ?? null,
      humanName: given.humanName ?? null,
      signUpSource: given.signUpSource ?? null,
      signUpReferrer: given.signUpReferrer ?? null,
      inboxLimit: given.inboxLimit ?? null,
      domainLimit: given.domainLimit ?? null,
      credentialLimit: given.credentialLimit ?? null,
      createdAt: now,
      updatedAt: now,
    },
  })
  const pod: Pod = await orm.pod.create({
    data: { id, organizationId: id, name: 'Default Pod', createdAt: now, updatedAt: now },
  })
  await events.record(tx, organizationChanged(organization), podChanged(pod))
  const details = { after: organizationFacts(organization) }
  await recordAudit(tx, actor, now, { action: 'organization.created', organizationId: id, details })
  return organization
}

/** The columns of an organization that may change, apart from its counters. */
export type OrganizationChange = Partial<
  Pick<
    Organization,
    | 'status'
    | 'authenticationType'
    | 'verifiedAt'
    | 'resumedAt'
    | 'humanEmail'
    | 'humanName'
    | 'humanReplacements'
    | 'inboxLimit'
    | 'domainLimit'
    | 'credentialLimit'
    | 'calendarAccess'
  >
> & { readonly sendLimits?: OwnSendLimits }

/** Changes a locked organization, and publishes the change. @param before as it was read under the lock. */
export async function changeOrganization(
  tx: Tx,
  events: TenancyEvents,
  before: Organization,
  change: OrganizationChange,
  actor: Actor,
): Promise<Organization> {
  const orm = await tx.orm()
  const changed = await orm.organization.update({
    where: { id: before.id },
    data: { ...change, version: { increment: 1 }, updatedAt: new Date() },
  })
  await events.record(tx, organizationChanged(changed))
  await recordAudit(tx, actor, changed.updatedAt, {
    action: 'organization.changed',
    organizationId: changed.id,
    details: {
      ...difference(organizationFacts(before), organizationFacts(changed)),
      ...(isAnotherHuman(before, changed) ? { because: 'human replaced' } : {}),
    },
  })
  return changed
}

/** The audit facts do not show this, because they do not contain the address. */
function isAnotherHuman({ humanEmail: before }: Organization, { humanEmail: after }: Organization): boolean {
  return before !== null && after !== null && before !== after
}
