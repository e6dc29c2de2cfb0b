import { LIMITS, type SignInScope } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'

const CODE_SECONDS = LIMITS.app.code / 1_000
const TOKEN_SECONDS = LIMITS.app.token / 1_000

/** What a code is good for. */
export interface CodeRow {
  readonly hash: Uint8Array
  readonly jti: string
  readonly app_id: string | null
  readonly client_id: string
  readonly redirect_uri: string
  readonly code_challenge: string
  readonly scopes: readonly SignInScope[]
  readonly nonce: string | null
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly address: string
  readonly api_key_id: string
  readonly owner_hash: Uint8Array | null
  readonly owner_approved: boolean
  readonly auth_time: Date
}

/** A code as it was found, at the database's time. */
export interface FoundCode extends CodeRow {
  readonly used_at: Date | null
  readonly expired: boolean
}

const COLUMNS = `hash, jti, app_id, client_id, redirect_uri, code_challenge, scopes, nonce, organization_id, pod_id,
 inbox_uid, address, api_key_id, owner_hash, owner_approved, auth_time`

const INSERT = sql<
  never,
  [
    hash: Uint8Array,
    jti: string,
    appId: string | null,
    clientId: string,
    redirectUri: string,
    codeChallenge: string,
    scopes: readonly string[],
    nonce: string | null,
    organizationId: string,
    podId: string,
    inboxUid: string,
    address: string,
    apiKeyId: string,
    ownerHash: Uint8Array | null,
    ownerApproved: boolean,
    authTime: Date,
    seconds: number,
  ]
>(
  `insert into codes (${COLUMNS}, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, now() + $17 * interval '1 second')`,
)

/** Stores a code for a minute. */
export async function insertCode(tx: Tx, row: CodeRow): Promise<void> {
  const client = [row.hash, row.jti, row.app_id, row.client_id, row.redirect_uri, row.code_challenge] as const
  const inbox = [row.organization_id, row.pod_id, row.inbox_uid, row.address, row.api_key_id] as const
  const owner = [row.owner_hash, row.owner_approved] as const
  await tx.query(INSERT, ...client, row.scopes, row.nonce, ...inbox, ...owner, row.auth_time, CODE_SECONDS)
}

const FIND = sql<FoundCode, [hash: Uint8Array]>(
  `select ${COLUMNS}, used_at, expires_at <= now() as expired from codes where hash = $1`,
)

/** A code, used or expired too. */
export async function findCode(on: Queryable, hash: Uint8Array): Promise<FoundCode | undefined> {
  const [row] = await on.query(FIND, hash)
  return row
}

const USE = sql<{ used_at: Date }, [hash: Uint8Array]>(
  `update codes set used_at = now() where hash = $1 and used_at is null and expires_at > now() returning used_at`,
)

/** Uses a code, once. @returns the database's time; undefined when it was used before, or has expired. */
export async function useCode(tx: Tx, hash: Uint8Array): Promise<Date | undefined> {
  const [used] = await tx.query(USE, hash)
  return used?.used_at
}

/** What an access token gives. */
export interface TokenRow {
  readonly client_id: string
  readonly organization_id: string
  readonly inbox_uid: string
  readonly api_key_id: string
  readonly scopes: readonly SignInScope[]
  readonly owner_hash: Uint8Array | null
  readonly owner_approved: boolean
}

const INSERT_TOKEN = sql<never, [hash: Uint8Array, codeHash: Uint8Array, scopes: readonly string[], seconds: number]>(
  `insert into access_tokens (hash, code_hash, client_id, organization_id, inbox_uid, api_key_id, scopes, owner_hash,
     owner_approved, expires_at)
   select $1, hash, client_id, organization_id, inbox_uid, api_key_id, $3::text[], owner_hash, owner_approved,
     now() + $4 * interval '1 second'
   from codes where hash = $2`,
)

/** Stores the access token of a code, for ten minutes. */
export async function insertToken(
  tx: Tx,
  { hash, codeHash, scopes }: { hash: Uint8Array; codeHash: Uint8Array; scopes: readonly SignInScope[] },
): Promise<void> {
  await tx.query(INSERT_TOKEN, hash, codeHash, scopes, TOKEN_SECONDS)
}

const REVOKE = sql<{ hash: Uint8Array }, [codeHash: Uint8Array]>(
  'update access_tokens set revoked_at = now() where code_hash = $1 and revoked_at is null returning hash',
)

/** Revokes the access token of a code that was sent a second time (RFC 6749 4.1.2). @returns whether there was one. */
export async function revokeTokenOf(on: Queryable, codeHash: Uint8Array): Promise<boolean> {
  return (await on.query(REVOKE, codeHash)).length > 0
}

const FIND_TOKEN = sql<TokenRow, [hash: Uint8Array]>(
  `select client_id, organization_id, inbox_uid, api_key_id, scopes, owner_hash, owner_approved
   from access_tokens where hash = $1 and revoked_at is null and expires_at > now()`,
)

/** A live access token. */
export async function findToken(on: Queryable, hash: Uint8Array): Promise<TokenRow | undefined> {
  const [row] = await on.query(FIND_TOKEN, hash)
  return row
}
