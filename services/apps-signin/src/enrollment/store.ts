import { type Queryable, sql, type Tx } from '@restante/service/database'

/** A browser that is making its key (apps 7.2), as it is stored. */
export interface Enrollment {
  readonly id: string
  readonly cookie_hash: Uint8Array
  readonly challenge: string
  readonly api_key_id: string
  readonly address: string
  /** Whether its pending key has not expired, by the database's clock. */
  readonly live: boolean
}

export interface NewEnrollment {
  readonly id: string
  readonly cookieHash: Uint8Array
  readonly challenge: string
  readonly apiKeyId: string
  readonly organizationId: string
  readonly inboxUid: string
  readonly address: string
  /** The sign-in that waits for it; null: a link of connect. */
  readonly jti: string | null
  readonly appId: string | null
  readonly expiresAt: Date
}

// A page that was loaded again begins anew: its cookie of the sign-in proves that it is the same browser.
const INSERT = sql<
  { id: string },
  [
    id: string,
    cookieHash: Uint8Array,
    challenge: string,
    apiKeyId: string,
    organizationId: string,
    inboxUid: string,
    address: string,
    jti: string | null,
    appId: string | null,
    expiresAt: Date,
  ]
>(
  `insert into enrollments (id, cookie_hash, challenge, api_key_id, organization_id, inbox_uid, address, jti, app_id, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
   on conflict (api_key_id) do update set id = excluded.id, cookie_hash = excluded.cookie_hash,
     challenge = excluded.challenge, expires_at = excluded.expires_at
   where enrollments.jti = excluded.jti and enrollments.finished_at is null
   returning id`,
)

/** Stores an enrollment, in place of an unfinished one of the same sign-in. @returns false when there is another. */
export async function insertEnrollment(tx: Tx, given: NewEnrollment): Promise<boolean> {
  const { id, cookieHash, challenge, apiKeyId, organizationId, inboxUid, address, jti, appId, expiresAt } = given
  const inbox = [organizationId, inboxUid, address] as const
  const stored = await tx.query(INSERT, id, cookieHash, challenge, apiKeyId, ...inbox, jti, appId, expiresAt)
  return stored.length > 0
}

const FIND = sql<Enrollment, [id: string]>(
  `select id, cookie_hash, challenge, api_key_id, address, expires_at > now() as live from enrollments where id = $1`,
)

/** An enrollment, finished or not. */
export async function findEnrollment(on: Queryable, id: string): Promise<Enrollment | undefined> {
  const [enrollment] = await on.query(FIND, id)
  return enrollment
}

const FINISH = sql<never, [id: string]>(
  'update enrollments set finished_at = now() where id = $1 and finished_at is null',
)

/** Notes that the key of an enrollment is active. */
export async function finishEnrollment(on: Queryable, id: string): Promise<void> {
  await on.query(FINISH, id)
}

/** What a page that waits must know beside its sign-in. */
export interface Progress {
  /** Whether the key that was created for the sign-in is active. */
  readonly enrolled: boolean
  /** Whether the human owner was asked, and may still answer. */
  readonly owner_asked: boolean
}

const PROGRESS = sql<Progress, [jti: string, apiKeyId: string | null]>(
  `select exists (select from enrollments where api_key_id = $2 and finished_at is not null) as enrolled,
     exists (select from owner_approvals where jti = $1 and decision is null and expires_at > now()) as owner_asked`,
)

/** How far a sign-in is. */
export async function progressOf(on: Queryable, jti: string, apiKeyId: string | null): Promise<Progress> {
  const [progress] = await on.query(PROGRESS, jti, apiKeyId)
  return progress ?? { enrolled: false, owner_asked: false }
}
