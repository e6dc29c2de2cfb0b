import { createHash, randomUUID } from 'node:crypto'
import { type SentMessage, sentMessage } from '@restante/contracts/resources'
import { ERROR_VARIANTS, LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'

/** One use of a key: keys are shared by the organization, across credentials and inboxes (identity 1.8). */
export interface KeyUse {
  readonly organizationId: string
  readonly inboxUid: string
  readonly key: string
  readonly fingerprint: string
  /** Number of take-overs of the organization when the request was admitted. */
  readonly takeOvers: number
}

/** The right to complete a key, until another request claims it after the lease. */
export interface Claim {
  readonly organizationId: string
  readonly key: string
  readonly leaseId: string
}

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  /** Completed before: this was the response. */
  | { readonly kind: 'replay'; readonly response: SentMessage }

/** It is unknown whether the work was done: its key stays claimed until the lease ends, and then shows which. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError'
  constructor(cause: unknown) {
    super('It is not known whether the message was accepted', { cause })
  }
}

/**
 * The key of a dead process is free after this time. Identity 1.8 would hold it for 15 minutes, for servers that cannot
 * know the outcome; here an incomplete key proves that nothing was done.
 */
const LEASE_SECONDS = 15
const RENEW_MS = 5_000
const KEPT_SECONDS = LIMITS.idempotency.kept / 1_000
/** A key that is released between two statements is claimed on the next try. */
const TRIES = 3

// Claims a key again whose holder died, whose response has been kept long enough, or which an earlier holder of the
// organization used: the successor must not get its response.
const CLAIM = sql<
  { lease_id: string },
  [organizationId: string, key: string, inboxUid: string, fingerprint: string, leaseId: string, takeOvers: number]
>(`
insert into idempotency_keys as held (organization_id, key, inbox_uid, fingerprint, lease_id, leased_until, take_overs)
values ($1, $2, $3, $4, $5, now() + interval '${LEASE_SECONDS} seconds', $6)
on conflict (organization_id, key) do update
   set inbox_uid = excluded.inbox_uid, fingerprint = excluded.fingerprint, lease_id = excluded.lease_id,
       leased_until = excluded.leased_until, take_overs = excluded.take_overs, completed_at = null, response = null
 where held.take_overs < excluded.take_overs
    or held.take_overs = excluded.take_overs
   and case when held.completed_at is null then held.leased_until <= now()
            else held.completed_at <= now() - interval '${KEPT_SECONDS} seconds' end
returning lease_id`)

interface HeldKey {
  readonly fingerprint: string
  readonly take_overs: number
  readonly response: unknown
}
const FIND = sql<HeldKey, [organizationId: string, key: string]>(
  'select fingerprint, take_overs, response from idempotency_keys where organization_id = $1 and key = $2',
)

// Rows are locked in one order, so that two transactions with the same keys never wait for each other in a circle.
const COMPLETE = sql<
  { key: string },
  [
    organizationIds: readonly string[],
    keys: readonly string[],
    leaseIds: readonly string[],
    responses: readonly string[],
  ]
>(`
with locked as materialized (
  select organization_id, key from idempotency_keys
   where (organization_id, key) in (select * from unnest($1::uuid[], $2::text[]))
   order by organization_id, key for update
)
update idempotency_keys as held
   set completed_at = now(), response = given.response::jsonb
  from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) as given (organization_id, key, lease_id, response)
  join locked using (organization_id, key)
 where held.organization_id = given.organization_id and held.key = given.key and held.lease_id = given.lease_id
   and held.completed_at is null
returning held.key`)

const RENEW = sql<never, [organizationId: string, key: string, leaseId: string]>(`
update idempotency_keys
   set leased_until = now() + interval '${LEASE_SECONDS} seconds'
 where organization_id = $1 and key = $2 and lease_id = $3 and completed_at is null`)

const RELEASE = sql<never, [organizationId: string, key: string, leaseId: string]>(
  'delete from idempotency_keys where organization_id = $1 and key = $2 and lease_id = $3 and completed_at is null',
)

/**
 * What makes two requests the same: operation, inbox, source message, and the body in any order of its members. Hex.
 */
export function fingerprint(operation: string, inboxUid: string, source: string | undefined, body: unknown): string {
  return createHash('sha256')
    .update(canonical([operation, inboxUid, source ?? null, body]))
    .digest('hex')
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
  return `{${members.join(',')}}`
}

/**
 * Claims a key, in a statement of its own, before the work.
 * @throws ApiError 409 when it is in use, by this request still running or by another one; 401 when the organization
 * has been taken over since this request was admitted, and its new holder has used the key.
 */
export async function claimKey(on: Queryable, use: KeyUse): Promise<ClaimResult> {
  const { organizationId, key, inboxUid, takeOvers } = use
  for (let left = TRIES; left > 0; left--) {
    const leaseId = randomUUID()
    const claimed = await on.query(CLAIM, organizationId, key, inboxUid, use.fingerprint, leaseId, takeOvers)
    if (claimed.length > 0) return { kind: 'claimed', claim: { organizationId, key, leaseId } }
    const [held] = await on.query(FIND, organizationId, key)
    if (!held) continue
    if (held.take_overs > takeOvers) throw new ApiError('unknown_api_key')
    if (held.fingerprint !== use.fingerprint) throw reused()
    if (held.response === null) break
    return { kind: 'replay', response: sentMessage.parse(held.response) }
  }
  throw inProgress()
}

/** Renews the lease while the work takes its time. @returns a function that ends the renewal. */
export function keepKey(on: Queryable, { organizationId, key, leaseId }: Claim): () => void {
  const renewing = setInterval(() => {
    // A failed renewal is made up for by the next; completing the key is what decides.
    on.query(RENEW, organizationId, key, leaseId).catch(() => {})
  }, RENEW_MS)
  return () => clearInterval(renewing)
}

/** A key, and the response that it is completed with. */
export interface Completion {
  readonly claim: Claim
  readonly response: SentMessage
}

/**
 * Stores responses, in the transaction of the work.
 * @throws ApiError 409 when another request has claimed one of the keys since, and does the work: this one must not
 * commit.
 */
export async function completeKeys(on: Queryable, completions: readonly Completion[]): Promise<void> {
  if (completions.length === 0) return
  const completed = await on.query(
    COMPLETE,
    completions.map(({ claim }) => claim.organizationId),
    completions.map(({ claim }) => claim.key),
    completions.map(({ claim }) => claim.leaseId),
    completions.map(({ response }) => JSON.stringify(response)),
  )
  if (completed.length < completions.length) throw inProgress()
}

/** Frees a key whose work certainly had no effect. */
export async function releaseKey(on: Queryable, { organizationId, key, leaseId }: Claim): Promise<void> {
  await on.query(RELEASE, organizationId, key, leaseId)
}

function inProgress(): ApiError {
  const { code, name, retry } = ERROR_VARIANTS.idempotency_key_in_progress
  return new ApiError(code, {
    name,
    retry,
    message: 'A request with this Idempotency-Key is still running',
    fix: 'Repeat the request in a moment; it will answer what the first one did.',
  })
}

function reused(): ApiError {
  const { code, name, retry } = ERROR_VARIANTS.idempotency_key_reused
  return new ApiError(code, {
    name,
    retry,
    message: 'This Idempotency-Key was used for another request',
    fix: 'Use a new key for each message; repeat a request with exactly the same content.',
  })
}
