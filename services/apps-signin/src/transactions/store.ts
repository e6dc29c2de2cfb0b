import { randomBytes } from 'node:crypto'
import type { SignInScope } from '@restante/contracts/vocabulary'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import { cookieOf, hashOf, type TransactionCookie } from './cookie-values.ts'

/** What an app asked for, after all checks of apps 6.3. */
export interface NewTransaction {
  /** Null: an open client. */
  readonly appId: string | null
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly SignInScope[]
  readonly state: string | null
  readonly nonce: string | null
  readonly codeChallenge: string
  /** An address; anything else that an app sends as a hint is not stored. */
  readonly loginHint: string | null
  readonly prompt: 'none' | 'consent' | null
}

/** A sign-in that an app began in a browser, as it is stored. */
export interface Transaction {
  readonly jti: string
  readonly auth_token: string
  readonly app_id: string | null
  readonly client_id: string
  readonly redirect_uri: string
  readonly scopes: readonly SignInScope[]
  readonly state: string | null
  readonly nonce: string | null
  readonly code_challenge: string
  readonly login_hint: string | null
  readonly prompt: string | null
  readonly cookie_hash: Uint8Array
  readonly organization_id: string | null
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly address: string | null
  /** The bearer key of the agent that bound it. */
  readonly credential_id: string | null
  /** The key that was minted when an agent bound it. */
  readonly minted_key_id: string | null
  /** Until the approval the same key; then the key that approved the sign-in. */
  readonly api_key_id: string | null
  readonly accept_disclosure: boolean
  readonly approved_at: Date | null
  readonly approved_by: string | null
  readonly consented_at: Date | null
  readonly owner_approved_at: Date | null
  readonly owner_hash: Uint8Array | null
  readonly outcome: string | null
  readonly reason: string | null
  readonly ended_at: Date | null
  readonly expires_at: Date
  /** Whether it can still be decided, by the database's clock. */
  readonly live: boolean
}

const RANDOM_BYTES = 16
const SECONDS = LIMITS.app.transaction / 1_000

export const COLUMNS = `jti, auth_token, app_id, client_id, redirect_uri, scopes, state, nonce, code_challenge, login_hint,
 prompt, cookie_hash, organization_id, pod_id, inbox_uid, address, credential_id, minted_key_id, api_key_id,
 accept_disclosure, approved_at, approved_by, consented_at, owner_approved_at, owner_hash, outcome, reason, ended_at,
 expires_at, (ended_at is null and expires_at > now()) as live`

const INSERT = sql<
  Transaction,
  [
    jti: string,
    authToken: string,
    appId: string | null,
    clientId: string,
    redirectUri: string,
    scopes: readonly string[],
    state: string | null,
    nonce: string | null,
    codeChallenge: string,
    loginHint: string | null,
    prompt: string | null,
    cookieHash: Uint8Array,
    seconds: number,
  ]
>(
  `insert into transactions (jti, auth_token, app_id, client_id, redirect_uri, scopes, state, nonce, code_challenge,
     login_hint, prompt, cookie_hash, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now() + $13 * interval '1 second')
   returning ${COLUMNS}`,
)

/**
 * Stores a sign-in for ten minutes.
 * @returns it, and the cookie that binds it to the browser; of that only the hash is stored.
 */
export async function createTransaction(
  on: Queryable,
  given: NewTransaction,
): Promise<{ readonly transaction: Transaction; readonly cookie: TransactionCookie }> {
  const jti = random()
  const cookie = cookieOf(jti)
  const [transaction] = await on.query(
    INSERT,
    jti,
    random(),
    given.appId,
    given.clientId,
    given.redirectUri,
    given.scopes,
    given.state,
    given.nonce,
    given.codeChallenge,
    given.loginHint,
    given.prompt,
    hashOf(cookie.value),
    SECONDS,
  )
  if (transaction === undefined) throw new Error('the stored sign-in was not returned')
  return { transaction, cookie }
}

const FIND = sql<Transaction, [jti: string]>(`select ${COLUMNS} from transactions where jti = $1`)

/** The sign-in of an id, `live` or not; undefined: there is none, or it was swept. */
export async function findTransaction(on: Queryable, jti: string): Promise<Transaction | undefined> {
  const [transaction] = await on.query(FIND, jti)
  return transaction
}

const FIND_BY_TOKEN = sql<Transaction, [authToken: string]>(`select ${COLUMNS} from transactions where auth_token = $1`)

/** The sign-in that an agent names by its token, `live` or not. */
export async function findByAuthToken(on: Queryable, authToken: string): Promise<Transaction | undefined> {
  const [transaction] = await on.query(FIND_BY_TOKEN, authToken)
  return transaction
}

const LOCK = sql<Transaction, [jti: string]>(`select ${COLUMNS} from transactions where jti = $1 for update`)

/** The same under a lock, until the end of the database transaction. */
export async function lockTransaction(tx: Queryable, jti: string): Promise<Transaction | undefined> {
  const [transaction] = await tx.query(LOCK, jti)
  return transaction
}

function random(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url')
}
