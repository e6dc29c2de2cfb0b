import type { Caller } from '@restante/contracts/access'
import type { SetupLink } from '@restante/contracts/resources'
import type { Database } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { Resolvers } from '../dns/resolvers.ts'
import { findConflictingProvider } from '../providers/conflict.ts'
import type { MailboxProvider } from '../providers/table.ts'
import { expectedRecords, type PublishedKey } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import { findDomain } from '../registrations/find.ts'
import { type DomainRow, publishedKeyOf } from '../registrations/store.ts'
import { applyUrl, type Signer } from './apply/apply-url.ts'
import { groupsOf } from './apply/template.ts'
import type { Discovery, TemplateIds } from './discovery/discovery.ts'
import { findZoneApex } from './discovery/zone.ts'
import { insertSetup } from './store.ts'

export interface LinkOptions {
  readonly db: Database
  readonly dns: Resolvers
  readonly discovery: Discovery
  readonly providers: readonly MailboxProvider[]
  readonly installation: Installation
  /** Undefined: the installation has no template at DNS providers, so that no link can be made. */
  readonly own: { readonly template: TemplateIds; readonly signer: Signer } | undefined
  /** Where the browser comes back to. */
  readonly returnUrl: string
}

/**
 * The link by which an owner lets the DNS provider publish the records of a domain (domains 9).
 * @throws ApiError 404; 409 when all records are published; 422 when the domain is in no zone.
 */
export async function setupLink(options: LinkOptions, caller: Caller, domainId: string): Promise<SetupLink> {
  const { db, dns, discovery, providers, installation, own, returnUrl } = options
  const row = await findDomain(db, caller, domainId)
  const key = await publishedKeyOf(db, row.uid)
  requireMissing(row, key, installation)
  const zone = await findZoneApex(dns, row.name)
  if (zone === undefined) throw noZone(row.name)
  const { providerName, page } = await discovery.find(zone)
  const known = providerName === undefined ? {} : { provider_name: providerName }
  if (page === undefined || own === undefined) return { supported: false, ...known }
  const conflicting = row.inbound_enabled ? await findConflictingProvider(dns, row.name, providers) : undefined
  const setup = { domain_uid: row.uid, organization_id: row.organization_id, credential_id: caller.credential.id }
  const state = await insertSetup(db, setup)
  const { template, signer } = own
  const application = {
    page: page.url,
    template,
    zone,
    name: row.name,
    groups: groupsOf(row, installation),
    ...key,
    returnUrl,
    state,
  }
  return {
    supported: true,
    ...known,
    url: applyUrl(application, signer),
    width: page.width,
    height: page.height,
    state,
    ...(conflicting !== undefined && { conflicting_provider: conflicting }),
  }
}

function requireMissing(row: DomainRow, key: PublishedKey, installation: Installation): void {
  const expected = expectedRecords(row, key, installation)
  if (expected.some(({ kind }) => row.records[kind]?.status !== 'VALID')) return
  throw new ApiError('conflict', {
    message: 'There is nothing to apply: every DNS record of this domain is published',
    fix: 'Get the domain to see its status. A link is needed again only after a record was removed or a switch was turned on.',
  })
}

function noZone(name: string): ApiError {
  return new ApiError('unprocessable', {
    message: `No DNS zone was found for ${name}`,
    fix: 'Register the name, or delegate it to name servers that answer for it, and try again.',
  })
}
