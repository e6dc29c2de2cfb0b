import { domainToASCII } from 'node:url'
import type { InternalResponseOf } from '@restante/contracts/internal'
import { ApiError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'

/** The domain of a new inbox. */
export interface InboxDomain {
  /** Lower case, in A-labels. */
  readonly name: string
  /** Registered by the organization, or below a name that is; otherwise every organization may use it. */
  readonly own: boolean
}

export interface InboxDomainOptions {
  readonly domainsDns: ServiceClient<'gateway'>
  readonly addresses: { readonly defaultDomain: string; readonly sharedDomains: ReadonlySet<string> }
}

interface Wanted {
  readonly organizationId: string
  readonly podId: string
  readonly domain: string | undefined
}

/**
 * Asks the owner of custom domains whether a new inbox may be on one. This comes before the transaction that creates the
 * inbox, because that holds the organization, for which all its other changes wait.
 * @returns the domain, or throws why it cannot be used, when called: a known client_id is answered first, whatever the
 *   domain (identity 8.2).
 */
export async function inboxDomain(deps: InboxDomainOptions, wanted: Wanted): Promise<() => InboxDomain> {
  const { defaultDomain, sharedDomains } = deps.addresses
  const name = wanted.domain === undefined ? defaultDomain : domainToASCII(wanted.domain.replace(/\.$/, ''))
  if (sharedDomains.has(name)) return () => ({ name, own: false })
  // Nothing is left of a name that is none.
  if (name === '') return refuse(refusalOf('unknown', name))
  try {
    const { organizationId: organization_id, podId: pod_id } = wanted
    const { outcome } = await deps.domainsDns.call('domains-dns.findInboxDomain', { organization_id, pod_id, name })
    return outcome === 'open' ? () => ({ name, own: true }) : refuse(refusalOf(outcome, name))
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): () => never {
  return () => {
    throw error
  }
}

type Refusal = Exclude<InternalResponseOf<'domains-dns.findInboxDomain'>['outcome'], 'open'>

function refusalOf(outcome: Refusal, name: string): ApiError {
  switch (outcome) {
    case 'unknown':
      return new ApiError('not_found', {
        message: 'Domain not found',
        fix: 'Register the domain with POST /v0/domains, or omit domain.',
      })
    case 'no_subdomains':
      return new ApiError('unprocessable', {
        message: `No inbox can be on ${name}: its domain is registered without subdomains`,
        fix: 'Set subdomains_enabled of the registered domain, or register this name as well.',
      })
    case 'reserved':
      return new ApiError('unprocessable', {
        message: `No inbox can be on ${name}: a DNS record of its domain needs the name`,
        fix: 'Choose another name below the domain.',
      })
    case 'not_verified':
      return new ApiError('domain_not_verified', {
        fix: 'Publish the DNS records that GET /v0/domains/{domain_id} lists, then call POST /v0/domains/{domain_id}/verify.',
      })
  }
}
