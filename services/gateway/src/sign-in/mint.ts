import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { KeyedMutex } from '@restante/service/concurrency'
import { sql } from '@restante/service/database'
import type { Actor } from '../audit/actor.ts'
import { grantForSignInKey } from '../credentials/grants.ts'
import { insertSignInKey } from '../credentials/insert.ts'
import { hasRoom } from '../credentials/limit.ts'
import type { Credential } from '../generated/prisma/client.ts'
import { holds, rightsFromRow } from '../identity/rights.ts'
import { findByUid, type ReferencedInbox } from '../inboxes/references.ts'
import { lockOrganization } from '../organizations/store.ts'
import { type Db, sharedTime, type Tx } from '../storage/database.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import { countMinted, exceededBy } from './counts.ts'

export interface SignInOptions {
  readonly db: Db
  readonly events: TenancyEvents
  /** Serializes the changes of one organization in this process, so that they hold one connection of the pool. */
  readonly turns: KeyedMutex
  /** Live credentials of an organization that has no limit of its own. */
  readonly credentialLimit: number
}

type Request = InternalRequestOf<'gateway.mintSignInKey'>
type Response = InternalResponseOf<'gateway.mintSignInKey'>

/** Seconds after which to try again when the organization has as many keys as it may have. */
const KEYS_RETRY_SECONDS = 60

const REFUSED_CREATOR: Response = { outcome: 'refused', because: 'creator' }

/**
 * Stores a pending sign-in key of an inbox, with what its creator holds of `app_connect` and `app_share_owner` at this
 * time (apps 2, 4). The locks of the organization and the creator make the limits exact; a repetition finds the key.
 */
export function mintSignInKey(deps: SignInOptions, request: Request): Promise<Response> {
  return deps.turns.run(request.organization_id, () => deps.db.transaction((tx) => mint(tx, deps, request)))
}

async function mint(tx: Tx, { events, credentialLimit }: SignInOptions, request: Request): Promise<Response> {
  const { organization_id: organizationId, inbox_uid: inboxUid, created_by: createdBy } = request
  const organization = await lockOrganization(tx, organizationId)
  if (organization === undefined) return REFUSED_CREATOR
  const orm = await tx.orm()
  const known = await orm.credential.findUnique({ where: { id: request.api_key_id } })
  if (known !== null) return isRepetition(known, request) ? minted(known) : REFUSED_CREATOR
  const inbox = await findByUid(tx, organizationId, inboxUid)
  if (inbox === undefined) return { outcome: 'refused', because: 'inbox' }
  const creator = await lockCreator(tx, createdBy, inbox)
  // The permission is denied to every key of an organization that is not verified (identity 5.4).
  const isAllowed = creator?.appConnect === true && organization.authenticationType !== 'agent_unverified'
  if (!isAllowed) return REFUSED_CREATOR

  const exceeded = await exceededBy(tx, organizationId, createdBy)
  if (exceeded !== undefined) return { outcome: 'limited', ...exceeded }
  if (!(await hasRoom(tx, events, organization, credentialLimit))) {
    return { outcome: 'limited', by: 'keys_of_organization', retry_after: KEYS_RETRY_SECONDS }
  }
  // A key that was minted and deleted since is not made again by a late repetition.
  if (!(await countMinted(tx, request))) return REFUSED_CREATOR
  return minted(await insert(tx, events, request, creator, inbox))
}

async function insert(
  tx: Tx,
  events: TenancyEvents,
  { api_key_id: id, expires_at }: Request,
  creator: Credential,
  inbox: ReferencedInbox,
): Promise<Credential> {
  const now = await sharedTime(tx)
  const latest = now.getTime() + LIMITS.app.link
  const given = {
    id,
    createdBy: creator.id,
    scope: { organizationId: creator.organizationId, podId: inbox.pod_id, inboxUid: inbox.uid },
    name: `Sign-in key ${id.slice(0, 8)}`,
    rights: grantForSignInKey(rightsFromRow(creator)),
    expiresAt: new Date(Math.min(latest, new Date(expires_at).getTime())),
    signUp: creator.signUp,
  }
  const actor: Actor = { kind: 'credential', id: creator.id }
  return insertSignInKey(tx, events, given, actor, now)
}

function isRepetition(row: Credential, { organization_id, inbox_uid, created_by }: Request): boolean {
  const isSame = row.organizationId === organization_id && row.inboxUid === inbox_uid && row.createdBy === created_by
  return row.signInStatus !== null && isSame
}

function minted(row: Credential): Response {
  return { outcome: 'minted', app_share_owner: holds(rightsFromRow(row), 'app_share_owner') }
}

const LOCK_CREATOR = sql<{ id: string }, [id: string, organizationId: string, podId: string, inboxUid: string]>(`
select id from credentials
 where id = $1 and organization_id = $2 and type = 'bearer' and not provisional
   and (expires_at is null or expires_at > now())
   and (pod_id is null or pod_id = $3) and (inbox_uid is null or inbox_uid = $4)
   for no key update`)

/** The bearer key of a request as it is now, if it is live and its scope has the inbox. */
async function lockCreator(tx: Tx, id: string, inbox: ReferencedInbox): Promise<Credential | undefined> {
  const [held] = await tx.query(LOCK_CREATOR, id, inbox.organization_id, inbox.pod_id, inbox.uid)
  if (held === undefined) return undefined
  const orm = await tx.orm()
  return orm.credential.findUniqueOrThrow({ where: { id } })
}
