import { createHash, randomUUID } from 'node:crypto'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { keyInProgress, keyReused } from './refusals.ts'

/** One use of an Idempotency-Key (apps 2): keys are shared by the organization. */
export interface KeyUse {
  readonly organizationId: string
  readonly key: string
  readonly fingerprint: Uint8Array
}

/** The right to answer for a key, until another request claims it after the lease. */
export interface Claim {
  readonly organizationId: string
  readonly key: string
  /** The sign-in key that the request creates. */
  readonly apiKeyId: string
}

export type Claimed =
  | {
      readonly kind: 'claimed'
      readonly claim: Claim
      /** The sign-in key of a request that died before it answered. */
      readonly abandoned: string | undefined
    }
  /** Answered before: this was the answer, sealed. */
  | { readonly kind: 'answered'; readonly answer: Uint8Array }

/** The key of a dead process is free after this time; a request takes a few seconds at most. */
const LEASE_SECONDS = 15
/** A key that is released between two statements is claimed on the next try. */
const TRIES = 3

// A claim is over when its lease, or the link that it was answered with, has ended.
const CLAIM = sql<
  { abandoned: string | null },
  [organizationId: string, key: string, fingerprint: Uint8Array, apiKeyId: string, seconds: number]
>(`
with held as (
  select api_key_id, answer from connect_replays where organization_id = $1 and key = $2
), claimed as (
  insert into connect_replays as replays (organization_id, key, fingerprint, api_key_id, expires_at)
  values ($1, $2, $3, $4, now() + $5 * interval '1 second')
  on conflict (organization_id, key) do update
     set fingerprint = excluded.fingerprint, api_key_id = excluded.api_key_id, expires_at = excluded.expires_at,
         answer = null, inbox_uid = null
   where replays.expires_at <= now()
  returning 1
)
select (select api_key_id from held where answer is null) as abandoned from claimed`)

const FIND = sql<{ fingerprint: Uint8Array; answer: Uint8Array | null }, [organizationId: string, key: string]>(
  'select fingerprint, answer from connect_replays where organization_id = $1 and key = $2 and expires_at > now()',
)

/** What makes two requests the same: the key that calls, the app and the inbox as they are named, and the consent. */
export function fingerprintOf(request: readonly (string | boolean | null)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(request)).digest()
}

/**
 * Claims a key, in a statement of its own, before the work.
 * @throws ApiError 409 when it is in use, by this request still running or by another one.
 */
export async function claimKey(on: Queryable, use: KeyUse): Promise<Claimed> {
  const { organizationId, key, fingerprint } = use
  for (let left = TRIES; left > 0; left--) {
    const apiKeyId = randomUUID()
    const [claimed] = await on.query(CLAIM, organizationId, key, fingerprint, apiKeyId, LEASE_SECONDS)
    if (claimed !== undefined) {
      return { kind: 'claimed', claim: { organizationId, key, apiKeyId }, abandoned: claimed.abandoned ?? undefined }
    }
    const [held] = await on.query(FIND, organizationId, key)
    if (held === undefined) continue
    if (Buffer.compare(held.fingerprint, fingerprint) !== 0) throw keyReused()
    if (held.answer === null) break
    return { kind: 'answered', answer: held.answer }
  }
  throw keyInProgress()
}

const COMPLETE = sql<
  { key: string },
  [organizationId: string, key: string, apiKeyId: string, answer: Uint8Array, inboxUid: string, expiresAt: Date]
>(
  `update connect_replays set answer = $4, inbox_uid = $5, expires_at = $6
   where organization_id = $1 and key = $2 and api_key_id = $3 and answer is null returning key`,
)

/**
 * Stores the answer until its link ends, in the transaction of the work.
 * @throws ApiError 409 when another request has claimed the key since, and does the work: this one must not commit.
 */
export async function completeKey(
  tx: Tx,
  { organizationId, key, apiKeyId }: Claim,
  given: { readonly answer: Uint8Array; readonly inboxUid: string; readonly expiresAt: Date },
): Promise<void> {
  const { answer, inboxUid, expiresAt } = given
  const completed = await tx.query(COMPLETE, organizationId, key, apiKeyId, answer, inboxUid, expiresAt)
  if (completed.length === 0) throw keyInProgress()
}

const RELEASE = sql<{ api_key_id: string }, [organizationId: string, key: string, apiKeyId: string]>(
  'delete from connect_replays where organization_id = $1 and key = $2 and api_key_id = $3 and answer is null returning api_key_id',
)

/**
 * Frees a key whose request has failed. One whose answer was stored stays: the failure came after the commit.
 * @returns whether the answer was not stored.
 */
export async function releaseKey(on: Queryable, { organizationId, key, apiKeyId }: Claim): Promise<boolean> {
  return (await on.query(RELEASE, organizationId, key, apiKeyId)).length > 0
}
