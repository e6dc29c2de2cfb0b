import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import type { InboxDomain } from '../domains/inbox-domain.ts'
import type { Inbox, Organization } from '../generated/prisma/client.ts'
import type { Tx } from '../storage/database.ts'
import { inboxChanged, type TenancyEvents } from '../tenancy/events.ts'
import type { Metadata } from './metadata.ts'
import { refuseSystemName } from './names/display-names.ts'
import { generateUsername, isReserved, RESERVED_ON_OWN_DOMAINS } from './names/usernames.ts'
import { type AddressHolder, holderOf, holderWithin, insertInbox } from './store.ts'

/** Domains and names of this installation. */
export interface AddressRules {
  readonly defaultDomain: string
  /** Every domain that all organizations may use, including the default one. */
  readonly sharedDomains: ReadonlySet<string>
  /** Reserved local parts on these domains, folded (`isReserved`). */
  readonly reservedUsernames: ReadonlySet<string>
  /** Sender name of inboxes that are created without one. */
  readonly defaultDisplayName: string | undefined
  /** The sender of the installation's own mail: no inbox on a shared domain may look like it. */
  readonly systemSender: { readonly name: string; readonly address: string }
}

export interface InboxRequest {
  readonly podId: string
  readonly username?: string | undefined
  readonly domain: InboxDomain
  readonly displayName?: string | undefined
  readonly clientId?: string | undefined
  readonly paused?: boolean
  readonly metadata?: Metadata | undefined
}

/**
 * Creates an inbox in an organization whose row the caller has locked (identity 8.2, from the fifth row of its table).
 * The database's indexes decide uniqueness; earlier checks only choose the error.
 */
export async function createInbox(
  tx: Tx,
  deps: { events: TenancyEvents; addresses: AddressRules },
  organization: Organization,
  given: InboxRequest,
): Promise<Inbox> {
  const { addresses } = deps
  const { domain, ...members } = given
  if (!domain.own) refuseSystemName(given.displayName, addresses.systemSender.name)
  const reserved = domain.own ? RESERVED_ON_OWN_DOMAINS : addresses.reservedUsernames
  if (given.username !== undefined && isReserved(given.username, reserved)) {
    throw new ApiError('resource_taken', { message: 'This username is reserved', fix: 'Choose another username.' })
  }
  for (let attempt = 0; attempt < LIMITS.inbox.usernameAttempts; attempt++) {
    const username = given.username ?? generateUsername(attempt)
    if (isReserved(username, reserved)) continue
    const address = `${username}@${domain.name}`
    const holder = domain.own ? await holderWithin(tx, organization.id, address) : await holderOf(tx, address)
    const refusal = holder && refusalOf(holder, organization.id)
    if (refusal !== undefined && given.username !== undefined) throw refusal
    if (refusal !== undefined) continue
    refuseBeyondLimit(organization)
    const { username: _username, displayName = addresses.defaultDisplayName, ...rest } = members
    const row = { ...rest, displayName, organizationId: organization.id, address, ownDomain: domain.own }
    const inbox = await insertInbox(tx, row, new Date())
    if (inbox === undefined) continue
    await deps.events.record(tx, inboxChanged(inbox))
    return inbox
  }
  throw new ApiError('race_condition')
}

function refusalOf(holder: AddressHolder, organizationId: string): ApiError | undefined {
  if (holder.organizationId !== organizationId) {
    return new ApiError('resource_taken', { message: 'This address is taken', fix: 'Choose another username.' })
  }
  switch (holder.state) {
    case 'live':
      return new ApiError('already_exists', { message: 'An inbox of this address already exists' })
    case 'purging':
      return new ApiError('resource_deleting', {
        message: 'The inbox that had this address is still being deleted',
        fix: 'Repeat the request in a moment, or choose another username.',
      })
    case 'retired':
      return undefined
  }
}

function refuseBeyondLimit({ inboxCount, inboxLimit }: Organization): void {
  if (inboxLimit === null || inboxCount < inboxLimit) return
  throw new ApiError('limit_exceeded', {
    message: 'Inbox limit exceeded',
    fix: "Delete an inbox or raise the organization's limit.",
    details: { resource: 'inbox', limit: inboxLimit },
  })
}
