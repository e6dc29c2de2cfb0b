import type { Queryable } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import { namesFrom } from '../names/registrable.ts'
import { returnPathOf } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import { findNamed } from '../registrations/find.ts'
import { isCoveredElsewhere } from '../registrations/proofs.ts'
import { isHeldElsewhere } from '../status/store.ts'

/** @throws ApiError 403 for a name that every organization may use already, or that is below one. */
export function refuseShared(name: string, sharedDomains: ReadonlySet<string>): void {
  if (!namesFrom(name).some((above) => sharedDomains.has(above))) return
  throw new ApiError('resource_taken', {
    message: 'This domain belongs to the service',
    fix: 'Register a domain of your own; inboxes can be on this one without registering it.',
  })
}

/**
 * Refuses names that the organization has already, or that another one has proven to be its own.
 * @throws ApiError 403
 */
export async function refuseTaken(on: Queryable, organizationId: string, name: string): Promise<void> {
  const [[own], isHeld, isCovered] = await Promise.all([
    findNamed(on, organizationId, [name]),
    isHeldElsewhere(on, { name, organization_id: organizationId }, new Date()),
    isCoveredElsewhere(on, organizationId, name),
  ])
  if (own) {
    throw new ApiError('already_exists', {
      message: 'This domain is already registered',
      fix: `Get it with GET /v0/domains/${name}.`,
    })
  }
  if (isHeld || isCovered) {
    throw new ApiError('resource_taken', {
      message: 'Another organization has verified this domain',
      fix: 'Use another domain. It is free 30 days after the other organization has deleted it.',
    })
  }
}

/**
 * Two hosts cannot both receive all mail of one name: that of the mail that returns to a domain, and that of the inboxes
 * of the domain of this name (domains 2.1, rule 6).
 * @throws ApiError 422
 */
export async function refuseReturnPath(
  on: Queryable,
  organizationId: string,
  name: string,
  installation: Installation,
): Promise<void> {
  if (installation.returnHost === installation.mxHost) return
  const [above] = namesFrom(name).slice(1)
  if (above === undefined || returnPathOf(above, installation) !== name) return
  if ((await findNamed(on, organizationId, [above])).length === 0) return
  throw new ApiError('unprocessable', {
    message: `${name} is where mail of your domain ${above} returns to`,
    fix: 'Register another subdomain.',
  })
}

/**
 * The flag is part of a registration, so a registered domain gets it with a new one.
 * @throws ApiError 422 where a provider is found that has the mail of a domain.
 */
export function refuseProvider(name: string, provider: string | undefined, isRegistered: boolean): void {
  if (provider === undefined) return
  throw new ApiError('unprocessable', {
    message: `The MX records of ${name} belong to ${provider}; receiving here would take its mail away`,
    fix: isRegistered
      ? `Register a subdomain such as agents.${name}, or leave inbound_enabled false to only send from it, or delete ${name} and register it with allow_conflicting_provider: true if mail is to reach both.`
      : `Register a subdomain such as agents.${name}, or set inbound_enabled to false to only send from it, or set allow_conflicting_provider to true if mail is to reach both.`,
  })
}

/** @throws ApiError 422 where the installation serves no images that tell of opening. */
export function refuseTracking(installation: Installation): void {
  if (installation.trackingHost !== undefined) return
  throw new ApiError('unprocessable', {
    message: 'This installation does not track opening',
    fix: 'Set tracking_enabled to false.',
  })
}

/** @throws ApiError 422 with the number of inboxes that a change would take the domain away from. */
export function refuseInboxes(count: number, where: string, fix: string): void {
  if (count === 0) return
  const inboxes = count === 1 ? 'inbox is' : 'inboxes are'
  throw new ApiError('unprocessable', { message: `${count} ${inboxes} ${where}`, fix })
}
