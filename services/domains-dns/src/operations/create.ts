import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import type { KeyedMutex } from '@restante/service/concurrency'
import type { Queryable, Tx } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import type { KeyRing } from '@restante/service/secrets'
import { holdScopes } from '@restante/tenancy'
import { scheduleCheck } from '../checks/timers.ts'
import { type KeyPair, newKeyPair } from '../keys/key-pair.ts'
import { insertKey } from '../keys/store.ts'
import { registrableName } from '../names/registrable.ts'
import { publishState } from '../registrations/events.ts'
import { countDomains, findByClientId } from '../registrations/find.ts'
import { isInScope, scopeOf } from '../registrations/scope.ts'
import { type DomainRow, insertDomain, lockDomainsOf, type NewDomain } from '../registrations/store.ts'
import { type ChangeOptions, countTrackingInboxes, findProvider } from './change.ts'
import {
  refuseInboxes,
  refuseProvider,
  refuseReturnPath,
  refuseShared,
  refuseTaken,
  refuseTracking,
} from './refusals.ts'

type Body = RequestOf<'domains.create'>['body']

export interface CreateOptions extends ChangeOptions {
  readonly ring: KeyRing
  /** Creates of one organization run one after the other: this way they hold one connection instead of all. */
  readonly mutex: KeyedMutex
  readonly sharedDomains: ReadonlySet<string>
  readonly allowSpecialUse: boolean
}

/**
 * Registers a domain, or returns the one that has the same `client_id` (domains 2.1). What costs a question to DNS or to
 * the gateway, or a key, comes before the transaction, and after all that refuses the request for less.
 * @param confirm the caller as of now, after those questions.
 */
export async function createDomain(
  deps: CreateOptions,
  caller: Caller,
  confirm: () => Promise<Caller>,
  body: Body,
): Promise<DomainRow> {
  const { db, mutex } = deps
  const wanted = newDomain(caller, registrableName(body.domain, deps.allowSpecialUse), body)
  const existing = await replay(db, caller, wanted)
  if (existing) return existing
  refuseShared(wanted.name, deps.sharedDomains)
  await refuseTaken(db, wanted.organizationId, wanted.name)
  if (wanted.inbound && !wanted.allowConflictingProvider)
    refuseProvider(wanted.name, await findProvider(deps, wanted.name), false)
  const limit = await domainLimit(deps, caller, wanted)
  await refuseOthers(deps, db, wanted, limit)
  await refuseInboxesOfOtherPods(deps, wanted)
  if (wanted.tracking) await refuseTrackingInboxes(deps, wanted)
  return mutex.run(wanted.organizationId, async () => {
    const pair = await newKeyPair()
    await confirm()
    return db.transaction((tx) => register(deps, tx, caller, wanted, { limit, pair }))
  })
}

function newDomain(caller: Caller, name: string, body: Body): NewDomain {
  return {
    uid: randomUUID(),
    organizationId: caller.organization_id,
    podId: caller.pod_id ?? null,
    name,
    clientId: body.client_id ?? null,
    inbound: body.inbound_enabled ?? true,
    subdomains: body.subdomains_enabled ?? false,
    feedback: body.feedback_enabled ?? true,
    tracking: body.tracking_enabled ?? false,
    allowConflictingProvider: body.allow_conflicting_provider ?? false,
  }
}

/** Everything again under the lock of the organization: another request may have been first. */
async function register(
  deps: CreateOptions,
  tx: Tx,
  caller: Caller,
  wanted: NewDomain,
  { limit, pair }: { readonly limit: number | undefined; readonly pair: KeyPair },
): Promise<DomainRow> {
  const { organizationId, podId, name } = wanted
  // The scopes first: a deletion takes their locks, and then those of the domains.
  if (!(await holdScopes(tx, [organizationId, ...(podId === null ? [] : [podId])]))) throw deletedScope(podId)
  await lockDomainsOf(tx, organizationId)
  const existing = await replay(tx, caller, wanted)
  if (existing) return existing
  await refuseTaken(tx, organizationId, name)
  await refuseOthers(deps, tx, wanted, limit)
  const row = await insertDomain(tx, wanted)
  await insertKey(tx, deps.ring, { domainUid: row.uid, selector: deps.installation.selector, pair })
  await publishState(tx, deps.outbox, row, deps.installation)
  await scheduleCheck(tx, deps.timers, row.uid)
  return row
}

/** @throws ApiError 409 when the alias is held outside the scope of the request; nothing of that domain is shown. */
async function replay(on: Queryable, caller: Caller, { clientId }: NewDomain): Promise<DomainRow | undefined> {
  if (clientId === null) return undefined
  const known = await findByClientId(on, caller.organization_id, clientId)
  if (!known || isInScope(scopeOf(caller), known)) return known
  throw new ApiError('conflict', { message: 'client_id is used by another domain', fix: 'Use another client_id.' })
}

async function refuseOthers(
  { installation }: CreateOptions,
  on: Queryable,
  { organizationId, name, tracking }: NewDomain,
  limit: number | undefined,
): Promise<void> {
  await refuseReturnPath(on, organizationId, name, installation)
  if (tracking) refuseTracking(installation)
  if (limit === undefined || (await countDomains(on, organizationId)) < limit) return
  throw new ApiError('limit_exceeded', {
    message: 'Domain limit exceeded',
    fix: "Delete a domain that is no longer needed, or raise the organization's limit.",
    details: { resource: 'domain', limit },
  })
}

/**
 * Inboxes follow the most specific domain of their organization, whose switches and status decide whether they send and
 * receive. A pod must not take those of other pods along.
 * @throws ApiError 403
 */
async function refuseInboxesOfOtherPods({ gateway }: CreateOptions, wanted: NewDomain): Promise<void> {
  const { organizationId: organization_id, podId: except_pod, name: domain } = wanted
  if (except_pod === null) return
  const question = { organization_id, domain, itself: true, except: [], except_pod }
  const { count } = await gateway.call('gateway.countInboxesOn', question)
  if (count === 0) return
  throw new ApiError('resource_taken', {
    message: 'Other pods have inboxes on this domain',
    fix: 'Use another domain, or register it for the whole organization with a key of the organization.',
  })
}

async function refuseTrackingInboxes(deps: CreateOptions, { organizationId, name }: NewDomain): Promise<void> {
  const count = await countTrackingInboxes(deps, organizationId, name)
  refuseInboxes(count, `on link.${name} or below it, where images are served from`, 'Set tracking_enabled to false.')
}

/** The most domains that the organization may have. Undefined: any number. */
async function domainLimit(
  { gateway }: CreateOptions,
  caller: Caller,
  { organizationId, podId }: NewDomain,
): Promise<number | undefined> {
  const rights = await gateway.call('gateway.getDomainRights', {
    organization_id: organizationId,
    ...(podId !== null && { pod_id: podId }),
  })
  if (!rights.live) throw deletedScope(podId)
  // An agent whose human is not verified has none, whatever the gateway has read.
  return caller.unverified ? 0 : rights.domain_limit
}

/** The gateway admitted the request, and its organization or pod was deleted since. */
function deletedScope(podId: string | null): ApiError {
  return podId === null ? new ApiError('unknown_api_key') : notFound('Pod')
}
