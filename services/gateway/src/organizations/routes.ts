import type { Organization as OrganizationDocument } from '@restante/contracts/resources'
import { ApiError } from '@restante/service/errors'
import type { Handlers, ServiceClient } from '@restante/service/http'
import { countDomains } from '../domains/count-domains.ts'
import { domainLimitOf } from '../domains/limit.ts'
import type { Organization } from '../generated/prisma/client.ts'
import type { Db } from '../storage/database.ts'
import { authenticationType } from '../tenancy/states.ts'

export interface OrganizationOptions {
  readonly db: Db
  readonly domainsDns: ServiceClient<'gateway'>
  /** Most domains of an organization that has no limit of its own. */
  readonly domainLimit: number
}

export function organizationRoutes({
  db,
  domainsDns,
  domainLimit,
}: OrganizationOptions): Pick<Handlers<'gateway'>, 'organizations.get' | 'auth.me'> {
  return {
    'organizations.get': async ({ caller }) => {
      const { organization_id: id } = caller
      const [row, domains] = await Promise.all([
        db.orm.organization.findUnique({ where: { id } }),
        countDomains(domainsDns, id),
      ])
      if (row === null) throw new ApiError('unknown_api_key')
      return organizationDocument(row, { count: domains, limit: domainLimitOf(row, domainLimit) })
    },

    'auth.me': async ({ caller: { organization_id, pod_id, inbox, credential } }) => {
      const common = { organization_id, api_key_id: credential.id }
      if (credential.tier === 'inbox' && inbox !== undefined) {
        return { scope_type: 'inbox', scope_id: inbox.address, pod_id, inbox_id: inbox.address, ...common }
      }
      if (credential.tier === 'pod' && pod_id !== undefined) {
        return { scope_type: 'pod', scope_id: pod_id, pod_id, ...common }
      }
      return { scope_type: 'organization', scope_id: organization_id, ...common }
    },
  }
}

/** The record as the API shows it (identity 5.5). */
function organizationDocument(
  row: Organization,
  domains: { readonly count: number; readonly limit: number },
): OrganizationDocument {
  const type = authenticationType(row)
  // The human of an ordinary organization is visible to the operator only; sign-up checks whether there is one.
  const human = type.authentication_type === undefined ? undefined : (row.humanEmail ?? undefined)
  return {
    organization_id: row.id,
    inbox_count: row.inboxCount,
    domain_count: domains.count,
    inbox_limit: row.inboxLimit ?? undefined,
    domain_limit: domains.limit,
    authentication_id: human,
    ...type,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
