import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { InternalResponseOf } from '@restante/contracts/internal'
import type { Queryable } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { isInScope } from '@restante/service/identity'
import { type Identity, sendingRight } from '../../identity/identity.ts'
import { sendLimitsFromRow } from '../../identity/send-limits.ts'
import { findByReference, findByUid, findOfAnyOrganization, type ReferencedInbox } from '../../inboxes/references.ts'
import { findPod, isLivePod } from '../../pods/references.ts'

/**
 * The caller of a request: the credential's identity narrowed to the pod and the inbox that the path names (identity
 * 4.2). A scope that the credential does not reach is 404, as if it did not exist; the first missing one is named.
 */
export async function resolveCaller(
  db: Queryable,
  identity: Identity,
  params: Readonly<Record<string, string>>,
): Promise<Caller> {
  const { pod_id: pod, inbox_id: inbox } = params
  const podId = pod === undefined ? undefined : await podOfPath(db, identity, pod)
  if (inbox !== undefined) return inInbox(identity, await inboxOfPath(db, identity, inbox, podId))
  if (podId !== undefined) return { ...inPod(identity, podId), pod_in_path: true }
  if (identity.inboxUid !== undefined) return inInbox(identity, await ownInbox(db, identity, identity.inboxUid))
  if (identity.podId !== undefined) await requireOwnPod(db, identity, identity.podId)
  return inPod(identity, identity.podId)
}

/**
 * The caller of a request that was resolved before, with the current rows of its scope. They are found by their ids,
 * because another inbox may have got the address since.
 */
export async function renewCaller(
  db: Queryable,
  identity: Identity,
  { inbox, pod_id: pod, pod_in_path }: Caller,
): Promise<Caller> {
  if (inbox !== undefined) {
    if (identity.inboxUid !== undefined) return inInbox(identity, await ownInbox(db, identity, identity.inboxUid))
    const row = await findByUid(db, identity.organizationId, inbox.uid)
    if (row === undefined || !reaches(identity, row)) throw notFound('Inbox')
    return inInbox(identity, row)
  }
  if (identity.podId !== undefined) await requireOwnPod(db, identity, identity.podId)
  else if (pod !== undefined && !(await isLivePod(db, identity.organizationId, pod))) throw notFound('Pod')
  return { ...inPod(identity, pod), ...(pod_in_path && { pod_in_path }) }
}

async function podOfPath(db: Queryable, identity: Identity, reference: string): Promise<string> {
  const id = await findPod(db, identity.organizationId, reference)
  if (id === undefined || (identity.podId !== undefined && identity.podId !== id)) throw notFound('Pod')
  return id
}

/** @param podId the pod before it in the path, which must be the one that contains it. */
async function inboxOfPath(
  db: Queryable,
  identity: Identity,
  reference: string,
  podId: string | undefined,
): Promise<ReferencedInbox> {
  const row = await findByReference(db, identity.organizationId, reference)
  const found = row !== undefined && reaches(identity, row) && (podId === undefined || podId === row.pod_id)
  if (!found) throw notFound('Inbox')
  return row
}

/** Whether the credential's own scope holds an inbox of its organization. */
function reaches(identity: Identity, { uid: inboxUid, pod_id: podId }: ReferencedInbox): boolean {
  return isInScope(identity, { organizationId: identity.organizationId, podId, inboxUid })
}

/** An inbox key whose inbox is deleted is invalid too, whatever a cached look-up said. */
async function ownInbox(db: Queryable, identity: Identity, uid: string): Promise<ReferencedInbox> {
  const row = await findByUid(db, identity.organizationId, uid)
  if (row === undefined) throw new ApiError('unknown_api_key')
  return row
}

/** The same for a pod key whose pod is deleted. */
async function requireOwnPod(db: Queryable, identity: Identity, id: string): Promise<void> {
  if (!(await isLivePod(db, identity.organizationId, id))) throw new ApiError('unknown_api_key')
}

function inPod(identity: Identity, podId: string | undefined): Caller {
  const { organizationId: organization_id, credential, sending, unverified } = identity
  const caller = { organization_id, credential, sending, unverified, ...exceptionsOf(identity) }
  return podId === undefined ? caller : { ...caller, pod_id: podId }
}

/**
 * What is so for few organizations, as of when the credential was looked up. By the take-overs, services recognise a request
 * from before one.
 */
function exceptionsOf({ takeOvers, calendarAccess }: Identity): Pick<Caller, 'take_overs' | 'calendar_access'> {
  return {
    ...(takeOvers > 0 && { take_overs: takeOvers }),
    ...(!calendarAccess && { calendar_access: false as const }),
  }
}

function inInbox(identity: Identity, row: ReferencedInbox): Caller {
  return {
    organization_id: identity.organizationId,
    pod_id: row.pod_id,
    inbox: callerInbox(row),
    credential: identity.credential,
    sending: sendingRight(row),
    unverified: row.authentication_type === 'agent_unverified',
    ...sendingFacts(row),
    ...exceptionsOf(identity),
  }
}

/** What an inbox may send at present, without a credential that asks (mail 11.4). */
export async function sendingInbox(
  db: Queryable,
  uid: string,
): Promise<InternalResponseOf<'gateway.getSendingInbox'>['sender']> {
  const row = await findOfAnyOrganization(db, uid)
  return (
    row && {
      organization_id: row.organization_id,
      inbox: callerInbox(row),
      sending: sendingRight(row),
      unverified: row.authentication_type === 'agent_unverified',
      ...sendingFacts(row),
      take_overs: row.take_overs,
    }
  )
}

/** What decides how much may be sent; nothing for nearly every organization. */
function sendingFacts({ send_limits, verified_at }: ReferencedInbox): Pick<Caller, 'send_limits' | 'verified_at'> {
  const own = sendLimitsFromRow(send_limits)
  return {
    ...(Object.keys(own).length === 0 ? {} : { send_limits: own }),
    ...(verified_at === null ? {} : { verified_at: verified_at.toISOString() }),
  }
}

function callerInbox(row: ReferencedInbox): CallerInbox {
  const inbox = {
    uid: row.uid,
    address: row.address,
    pod_id: row.pod_id,
    paused: row.status === 'paused',
    created_at: row.created_at.toISOString(),
  }
  return row.display_name === null ? inbox : { ...inbox, display_name: row.display_name }
}
