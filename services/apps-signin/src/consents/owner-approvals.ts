import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** The question to a human owner, as it is stored. */
export interface OwnerApproval {
  readonly jti: string
  readonly organization_id: string
  readonly inbox_uid: string
  readonly owner_hash: Uint8Array
  readonly mail_id: string
  readonly mailed_at: Date | null
  readonly decision: 'allowed' | 'refused' | null
  readonly expires_at: Date
  /** Whether it can still be decided, by the database's clock. */
  readonly open: boolean
}

const SECONDS = LIMITS.app.ownerApproval / 1_000
/** The sign-in outlives the question, so that the app is told when nobody has answered. */
const GRACE_SECONDS = 120

const COLUMNS = `jti, organization_id, inbox_uid, owner_hash, mail_id, mailed_at, decision, expires_at,
 (decision is null and expires_at > now()) as open`

const FIND = sql<OwnerApproval, [jti: string]>(`select ${COLUMNS} from owner_approvals where jti = $1`)

/** The question that a sign-in has led to. */
export async function findApproval(on: Queryable, jti: string): Promise<OwnerApproval | undefined> {
  const [approval] = await on.query(FIND, jti)
  return approval
}

const FIND_BY_TOKEN = sql<OwnerApproval, [tokenHash: Uint8Array]>(
  `select ${COLUMNS} from owner_approvals where token_hash = $1`,
)

/** The question of a mailed link. */
export async function findByToken(on: Queryable, tokenHash: Uint8Array): Promise<OwnerApproval | undefined> {
  const [approval] = await on.query(FIND_BY_TOKEN, tokenHash)
  return approval
}

const LOCK = sql<never, [organizationId: string]>(
  `select pg_advisory_xact_lock(hashtextextended('mails to the owner of ' || $1, 0))`,
)
const COUNT_MAIL = sql<{ id: string }, [mailId: string, organizationId: string, most: number]>(
  `insert into owner_mails (id, organization_id)
   select $1::uuid, $2::uuid where (
     select count(*) from owner_mails where organization_id = $2 and created_at > now() - interval '1 hour') < $3
   returning id`,
)

/** Questions to the owner of one organization are stored one after the other, until the transaction ends. */
export async function lockOwnerMails(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(LOCK, organizationId)
}

/**
 * Counts a mail against the limit per hour of its organization. The caller holds the lock (`lockOwnerMails`).
 * @returns false when the limit is reached.
 */
export async function countOwnerMail(tx: Tx, mailId: string, organizationId: string): Promise<boolean> {
  const counted = await tx.query(COUNT_MAIL, mailId, organizationId, LIMITS.app.ownerMailsPerHour)
  return counted.length > 0
}

/** A question that is about to be mailed. */
export interface NewApproval {
  readonly jti: string
  readonly organizationId: string
  readonly inboxUid: string
  readonly tokenHash: Uint8Array
  readonly ownerHash: Uint8Array
  readonly mailId: string
}

const INSERT = sql<
  OwnerApproval,
  [
    jti: string,
    tokenHash: Uint8Array,
    organizationId: string,
    inboxUid: string,
    ownerHash: Uint8Array,
    mailId: string,
    seconds: number,
  ]
>(
  `insert into owner_approvals (jti, token_hash, organization_id, inbox_uid, owner_hash, mail_id, expires_at)
   values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second') returning ${COLUMNS}`,
)
const EXTEND = sql<{ jti: string }, [jti: string, seconds: number]>(
  `update transactions set expires_at = greatest(expires_at, now() + $2 * interval '1 second')
   where jti = $1 and ended_at is null and expires_at > now() returning jti`,
)

/** Lets a sign-in wait as long as its question. @returns false when it has ended. */
export async function awaitOwner(tx: Tx, jti: string): Promise<boolean> {
  const extended = await tx.query(EXTEND, jti, SECONDS + GRACE_SECONDS)
  return extended.length > 0
}

/** Stores a question for 15 minutes. */
export async function insertApproval(tx: Tx, given: NewApproval): Promise<OwnerApproval> {
  const { jti, organizationId, inboxUid, tokenHash, ownerHash, mailId } = given
  const [approval] = await tx.query(INSERT, jti, tokenHash, organizationId, inboxUid, ownerHash, mailId, SECONDS)
  if (approval === undefined) throw new Error('the stored question was not returned')
  return approval
}

const MAILED = sql<never, [jti: string]>('update owner_approvals set mailed_at = now() where jti = $1')

/** Notes that the mail was accepted for sending. */
export async function noteMailed(on: Queryable, jti: string): Promise<void> {
  await on.query(MAILED, jti)
}

const DECIDE = sql<{ jti: string }, [tokenHash: Uint8Array, decision: string]>(
  `update owner_approvals set decision = $2, decided_at = now()
   where token_hash = $1 and decision is null and expires_at > now() returning jti`,
)

/** Stores the answer of the owner. @returns false when there is one already, or the link has expired. */
export async function decideApproval(tx: Tx, tokenHash: Uint8Array, decision: 'allowed' | 'refused'): Promise<boolean> {
  const decided = await tx.query(DECIDE, tokenHash, decision)
  return decided.length > 0
}
