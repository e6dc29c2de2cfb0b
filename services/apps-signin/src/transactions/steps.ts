import { type Queryable, sql } from '@restante/service/database'
import { COLUMNS, type Transaction } from './store.ts'

/** The inbox that signs in. */
export interface SigningInbox {
  readonly organizationId: string
  readonly podId: string
  readonly inboxUid: string
  readonly address: string
}

const UNDECIDED = 'ended_at is null and expires_at > now()'
/** A hint is compared without case; it is the app's, so it cannot choose the inbox, only refuse others (apps 6.3). */
const HINTED = '(login_hint is null or lower(login_hint) = lower($5))'

const BIND = sql<
  Transaction,
  [
    jti: string,
    organizationId: string,
    podId: string,
    inboxUid: string,
    address: string,
    credentialId: string,
    apiKeyId: string,
    acceptDisclosure: boolean,
  ]
>(
  `update transactions set organization_id = $2, pod_id = $3, inbox_uid = $4, address = $5, credential_id = $6,
     api_key_id = $7, minted_key_id = $7, accept_disclosure = $8
   where jti = $1 and credential_id is null and approved_at is null and ${HINTED} and ${UNDECIDED}
   returning ${COLUMNS}`,
)

/**
 * Binds a sign-in to the inbox that an agent authorized and to the pending key that was minted for it (apps 3).
 * @returns undefined when it is bound or approved already, is for another inbox by its hint, or has ended.
 */
export async function bindByAgent(
  tx: Queryable,
  binding: SigningInbox & {
    readonly jti: string
    readonly credentialId: string
    readonly apiKeyId: string
    readonly acceptDisclosure: boolean
  },
): Promise<Transaction | undefined> {
  const { jti, organizationId, podId, inboxUid, address, credentialId, apiKeyId, acceptDisclosure } = binding
  const values = [jti, organizationId, podId, inboxUid, address, credentialId, apiKeyId, acceptDisclosure] as const
  const [bound] = await tx.query(BIND, ...values)
  return bound
}

const APPROVE = sql<
  Transaction,
  [
    jti: string,
    organizationId: string,
    podId: string,
    inboxUid: string,
    address: string,
    apiKeyId: string,
    approvedBy: string,
  ]
>(
  `update transactions set organization_id = $2, pod_id = $3, inbox_uid = $4, address = $5, api_key_id = $6,
     approved_by = $7, approved_at = now()
   where jti = $1 and approved_at is null and (inbox_uid is null or inbox_uid = $4) and ${HINTED} and ${UNDECIDED}
   returning ${COLUMNS}`,
)

/**
 * Records that a key proved the inbox. The first proof wins, in whichever process; a sign-in that an agent has bound is
 * approved by a key of the same inbox only.
 * @returns undefined when it was approved before, is for another inbox, or has ended.
 */
export async function approve(
  tx: Queryable,
  approval: SigningInbox & {
    readonly jti: string
    readonly apiKeyId: string
    readonly by: 'sign_in' | 'registered'
  },
): Promise<Transaction | undefined> {
  const { jti, organizationId, podId, inboxUid, address, apiKeyId, by } = approval
  const [approved] = await tx.query(APPROVE, jti, organizationId, podId, inboxUid, address, apiKeyId, by)
  return approved
}

const CONSENT = sql<Transaction, [jti: string, ownerHash: Uint8Array | null]>(
  `update transactions set consented_at = now(), owner_hash = coalesce($2, owner_hash)
   where jti = $1 and approved_at is not null and consented_at is null
     and ($2::bytea is null or owner_hash is null or owner_hash = $2) and ${UNDECIDED}
   returning ${COLUMNS}`,
)

/**
 * Records that a person allowed what the page showed.
 * @param ownerHash SHA-256 of the id of the owner whose facts it showed; null: of none. From then on no other
 * owner's facts are released.
 * @returns undefined when the sign-in is not approved, was allowed before, or has ended.
 */
export async function consented(
  tx: Queryable,
  { jti, ownerHash }: { readonly jti: string; readonly ownerHash: Uint8Array | null },
): Promise<Transaction | undefined> {
  const [transaction] = await tx.query(CONSENT, jti, ownerHash)
  return transaction
}

const OWNER_ALLOWED = sql<Transaction, [jti: string, ownerHash: Uint8Array]>(
  `update transactions set owner_approved_at = now(), owner_hash = $2
   where jti = $1 and approved_at is not null and owner_approved_at is null
     and (owner_hash is null or owner_hash = $2) and ${UNDECIDED}
   returning ${COLUMNS}`,
)

/**
 * Records the answer of the human owner: consent to release the owner scopes, or the end of the sign-in.
 * @param ownerHash SHA-256 of the id of the owner who was asked.
 * @returns undefined when the sign-in has ended, or a page has shown the facts of another owner.
 */
export async function ownerDecided(
  tx: Queryable,
  { jti, allowed, ownerHash }: { readonly jti: string; readonly allowed: boolean; readonly ownerHash: Uint8Array },
): Promise<Transaction | undefined> {
  if (!allowed) return end(tx, { jti, outcome: 'access_denied', reason: 'owner_refused' })
  const [transaction] = await tx.query(OWNER_ALLOWED, jti, ownerHash)
  return transaction
}

/** How a sign-in ends: with a code, or an error of OAuth and OpenID Connect. */
export type Outcome = 'code' | 'access_denied' | 'login_required' | 'consent_required' | 'invalid_scope'

const END = sql<Transaction, [jti: string, outcome: string, reason: string | null]>(
  `update transactions set outcome = $2, reason = $3, ended_at = now() where jti = $1 and ${UNDECIDED}
   returning ${COLUMNS}`,
)

/**
 * Ends a sign-in. The first end wins, in whichever process.
 * @param reason the `error_description` that the app gets.
 * @returns undefined when it has ended before.
 */
export async function end(
  tx: Queryable,
  { jti, outcome, reason }: { readonly jti: string; readonly outcome: Outcome; readonly reason?: string },
): Promise<Transaction | undefined> {
  const [transaction] = await tx.query(END, jti, outcome, reason ?? null)
  return transaction
}
