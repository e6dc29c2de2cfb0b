import type {
  InternalRequestOf,
  InternalResponseOf,
  SignInCredential,
  SignInInbox,
  SignInOwner,
} from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import { mailboxOf } from '../agents/codes.ts'
import { provenKey, registeredKey } from '../credentials/public-keys.ts'
import type { Secrets } from '../credentials/secrets.ts'
import { holds, rightsFromRow } from '../identity/rights.ts'

type Request = InternalRequestOf<'gateway.getSignInFacts'>
type Response = InternalResponseOf<'gateway.getSignInFacts'>

interface KeyRow {
  readonly id: string
  readonly organizationId: string
  readonly podId: string | null
  readonly inboxUid: string | null
  readonly publicKey: unknown
  readonly fingerprint: string | null
  readonly createdBy: string | null
  readonly signInStatus: string | null
  readonly signInKey: unknown
  readonly signInFingerprint: string | null
  readonly permissions: unknown
  readonly appConnect: boolean
  readonly expiresAt: Date | null
}

const KEY = sql<KeyRow, [id: string]>(`
select id, organization_id as "organizationId", pod_id as "podId", inbox_uid as "inboxUid",
       public_key as "publicKey", fingerprint, created_by as "createdBy",
       sign_in_status as "signInStatus", sign_in_key as "signInKey", sign_in_fingerprint as "signInFingerprint",
       permissions, app_connect as "appConnect", expires_at as "expiresAt"
  from credentials
 where id = $1 and type = 'public_key' and (expires_at is null or expires_at > now())`)

interface InboxRow {
  readonly uid: string
  readonly organization_id: string
  readonly pod_id: string
  readonly address: string
  readonly display_name: string | null
  readonly status: string
  readonly authentication_type: string | null
  readonly human_email: string | null
  readonly human_name: string | null
}

const INBOX = `
select i.uid, i.organization_id, i.pod_id, i.address, i.display_name,
       o.status, o.authentication_type, o.human_email, o.human_name
  from inboxes i join organizations o on o.id = i.organization_id
 where i.deleted_at is null and o.deleting_at is null`

const BY_UID = sql<InboxRow, [uid: string]>(`${INBOX} and i.uid = $1`)
/** An address on a custom domain may be an inbox of the domain's former owner as well: that of the key is preferred. */
const BY_ADDRESS = sql<InboxRow, [address: string, organizationId: string | null]>(`
${INBOX} and i.address = $1
 order by i.organization_id = $2::uuid desc nulls last, i.created_at desc, i.uid limit 1`)

const NOTE_USE = sql<never, [id: string, intervalSeconds: number]>(`
update credentials set used_at = now()
 where id = (select id from credentials
              where id = $1 and (used_at is null or used_at <= now() - make_interval(secs => $2))
                for no key update skip locked)`)

/** What a sign-in depends on, from the rows as they are now (apps 6.4). */
export async function getSignInFacts(db: Queryable, secrets: Secrets, request: Request): Promise<Response> {
  const [key] = request.api_key_id === undefined ? [] : await db.query(KEY, request.api_key_id)
  const inbox = request.inbox && (await findInbox(db, request.inbox, key?.organizationId))
  if (key !== undefined && request.used) await db.query(NOTE_USE, key.id, LIMITS.apiKey.usedAt / 1_000)
  const owner = inbox && ownerOf(secrets, inbox)
  return {
    ...(key !== undefined && { credential: credentialFrom(key) }),
    ...(inbox !== undefined && { inbox: inboxFrom(inbox), organization: stateOf(inbox) }),
    ...(owner !== undefined && { owner }),
  }
}

async function findInbox(
  db: Queryable,
  given: NonNullable<Request['inbox']>,
  organizationId: string | undefined,
): Promise<InboxRow | undefined> {
  const [row] =
    'uid' in given
      ? await db.query(BY_UID, given.uid)
      : await db.query(BY_ADDRESS, given.address.toLowerCase(), organizationId ?? null)
  return row
}

function credentialFrom(row: KeyRow): SignInCredential {
  const rights = rightsFromRow(row)
  const { createdBy, publicKey } = registeredKey(row)
  const status = row.signInStatus === 'active' ? 'active' : 'pending'
  const jwk = row.signInStatus === null ? publicKey : provenKey(row)?.publicKey
  return {
    api_key_id: row.id,
    ...(row.signInStatus === null ? { family: 'registered' } : { family: 'sign_in', status }),
    organization_id: row.organizationId,
    ...(row.podId !== null && { pod_id: row.podId }),
    ...(row.inboxUid !== null && { inbox_uid: row.inboxUid }),
    ...(jwk !== undefined && { jwk }),
    app_connect: rights.appConnect,
    app_share_owner: holds(rights, 'app_share_owner'),
    created_by: createdBy,
    ...(row.expiresAt !== null && { expires_at: row.expiresAt.toISOString() }),
  }
}

function inboxFrom(row: InboxRow): SignInInbox {
  return {
    organization_id: row.organization_id,
    pod_id: row.pod_id,
    inbox_uid: row.uid,
    address: row.address,
    ...(row.display_name !== null && { display_name: row.display_name }),
  }
}

function stateOf(row: InboxRow): NonNullable<Response['organization']> {
  if (row.status === 'suspended') return 'suspended'
  return row.authentication_type === 'agent_unverified' ? 'unverified' : 'active'
}

/** The human whose address a code or the operator has confirmed; plus tags do not make another human. */
function ownerOf(secrets: Secrets, row: InboxRow): SignInOwner | undefined {
  const { human_email: email, human_name: name } = row
  if (email === null || row.authentication_type === 'agent_unverified') return undefined
  return { id: secrets.humanId(mailboxOf(email)), email, ...(name !== null && { name }) }
}
