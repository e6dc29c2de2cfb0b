import type { Caller, CallerInbox } from '@restante/contracts'
import { ApiError, isInScope, notFound, type Queryable, sql } from '@restante/service'
import { parseReference } from '../inboxes/store.ts'
import { findPod, isLivePod } from '../pods/store.ts'
import { type Identity, sendingRight } from './identity.ts'

/** The inbox of a request with its organization's sending right, read for this request: neither may be a second old. */
interface InboxRow {
  readonly uid: string
  readonly address: string
  readonly pod_id: string
  readonly display_name: string | null
  readonly status: string
  readonly organization_status: string
  readonly authentication_type: string | null
  readonly human_email: string | null
}

const COLUMNS = `
select i.uid, i.address, i.pod_id, i.display_name, i.status,
       o.status as organization_status, o.authentication_type, o.human_email
  from inboxes i join organizations o on o.id = i.organization_id
 where i.organization_id = $1 and i.deleted_at is null`

const BY_ADDRESS = sql<InboxRow, [organizationId: string, address: string]>(`${COLUMNS} and i.address = $2`)
const BY_CLIENT_ID = sql<InboxRow, [organizationId: string, clientId: string]>(`${COLUMNS} and i.client_id = $2`)
const BY_UID = sql<InboxRow, [organizationId: string, uid: string]>(`${COLUMNS} and i.uid = $2`)

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
  if (podId !== undefined) return inPod(identity, podId)
  if (identity.inboxUid !== undefined) return inInbox(identity, await ownInbox(db, identity, identity.inboxUid))
  if (identity.podId !== undefined) await requireOwnPod(db, identity, identity.podId)
  return inPod(identity, identity.podId)
}

/**
 * The caller of a request that was resolved before, with the rows of its scope as they are now. Found by their ids:
 * another inbox may have got the address since.
 */
export async function renewCaller(db: Queryable, identity: Identity, { inbox, pod_id: pod }: Caller): Promise<Caller> {
  if (inbox !== undefined) {
    if (identity.inboxUid !== undefined) return inInbox(identity, await ownInbox(db, identity, identity.inboxUid))
    const [row] = await db.query(BY_UID, identity.organizationId, inbox.uid)
    if (row === undefined || !reaches(identity, row)) throw notFound('Inbox')
    return inInbox(identity, row)
  }
  if (identity.podId !== undefined) await requireOwnPod(db, identity, identity.podId)
  else if (pod !== undefined && !(await isLivePod(db, identity.organizationId, pod))) throw notFound('Pod')
  return inPod(identity, pod)
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
): Promise<InboxRow> {
  const { address, clientId } = parseReference(reference)
  const [row] =
    address === null
      ? await db.query(BY_CLIENT_ID, identity.organizationId, clientId ?? '')
      : await db.query(BY_ADDRESS, identity.organizationId, address)
  const found = row !== undefined && reaches(identity, row) && (podId === undefined || podId === row.pod_id)
  if (!found) throw notFound('Inbox')
  return row
}

/** Whether the credential's own scope holds an inbox of its organization. */
function reaches(identity: Identity, { uid: inboxUid, pod_id: podId }: InboxRow): boolean {
  return isInScope(identity, { organizationId: identity.organizationId, podId, inboxUid })
}

/** An inbox key whose inbox is deleted is invalid too, whatever a cached look-up said. */
async function ownInbox(db: Queryable, identity: Identity, uid: string): Promise<InboxRow> {
  const [row] = await db.query(BY_UID, identity.organizationId, uid)
  if (row === undefined) throw new ApiError('unknown_api_key')
  return row
}

/** The same for a pod key whose pod is deleted. */
async function requireOwnPod(db: Queryable, identity: Identity, id: string): Promise<void> {
  if (!(await isLivePod(db, identity.organizationId, id))) throw new ApiError('unknown_api_key')
}

function inPod(identity: Identity, podId: string | undefined): Caller {
  const { organizationId: organization_id, credential, sending, unverified } = identity
  const caller = { organization_id, credential, sending, unverified, ...takeOversOf(identity) }
  return podId === undefined ? caller : { ...caller, pod_id: podId }
}

/** As of when the credential was looked up: services use it to recognise a request from before a take-over. */
function takeOversOf({ takeOvers }: Identity): Pick<Caller, 'take_overs'> {
  return takeOvers === 0 ? {} : { take_overs: takeOvers }
}

function inInbox(identity: Identity, row: InboxRow): Caller {
  return {
    organization_id: identity.organizationId,
    pod_id: row.pod_id,
    inbox: callerInbox(row),
    credential: identity.credential,
    sending: sendingRight(row),
    unverified: row.authentication_type === 'agent_unverified',
    ...takeOversOf(identity),
  }
}

function callerInbox(row: InboxRow): CallerInbox {
  const inbox = { uid: row.uid, address: row.address, pod_id: row.pod_id, paused: row.status === 'paused' }
  return row.display_name === null ? inbox : { ...inbox, display_name: row.display_name }
}
