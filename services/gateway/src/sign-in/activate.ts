import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import type { Actor } from '../audit/actor.ts'
import { fingerprintOf } from '../credentials/public-keys.ts'
import { changeCredential, revokeCredentials } from '../credentials/store.ts'
import type { Credential } from '../generated/prisma/client.ts'
import { lockOrganization } from '../organizations/store.ts'
import { sharedTime, type Tx } from '../storage/database.ts'
import { activationDelay, countActivated } from './counts.ts'
import type { SignInOptions } from './mint.ts'

type Request = InternalRequestOf<'gateway.activateSignInKey'>
type Response = InternalResponseOf<'gateway.activateSignInKey'>
type Deps = Pick<SignInOptions, 'db' | 'events' | 'turns'>

/** A browser has proven the key, or abandoned it. */
const SIGN_IN: Actor = { kind: 'system', id: 'sign-in' }
const GONE: Response = { outcome: 'gone' }

/**
 * Gives a pending sign-in key the public key whose possession was proven, and 30 days (apps 4). The same call again has
 * the same answer.
 * @throws ApiError 400 for a point that is not on the curve
 */
export async function activateSignInKey(deps: Deps, { api_key_id: id, jwk }: Request): Promise<Response> {
  const proof = { jwk, fingerprint: await fingerprintOf(jwk) }
  const done = await withLockedKey(deps, id, (tx, row) => activate(tx, deps, row, proof))
  return done ?? GONE
}

async function activate(
  tx: Tx,
  { events }: Deps,
  row: Credential,
  proof: { jwk: Request['jwk']; fingerprint: string },
): Promise<Response> {
  const now = await sharedTime(tx)
  if (row.expiresAt === null || row.expiresAt <= now) return GONE
  if (row.signInStatus === 'active') {
    return row.signInFingerprint === proof.fingerprint ? activated(row.expiresAt) : GONE
  }
  if (await isUsed(tx, proof.fingerprint, row.id)) return { outcome: 'used' }
  const delay = row.createdBy === null ? undefined : await activationDelay(tx, row.createdBy)
  if (delay !== undefined) return { outcome: 'limited', retry_after: delay }
  const expiresAt = new Date(now.getTime() + LIMITS.app.signInKey)
  await changeCredential(tx, events, row, { proven: { ...proof, expiresAt } }, SIGN_IN)
  await countActivated(tx, row.id)
  return activated(expiresAt)
}

/**
 * Deletes a sign-in key that is still pending. @returns false when there is none, or when it is active by now.
 */
export async function cancelSignInKey(
  deps: Deps,
  { api_key_id: id }: InternalRequestOf<'gateway.cancelSignInKey'>,
): Promise<InternalResponseOf<'gateway.cancelSignInKey'>> {
  const cancelled = await withLockedKey(deps, id, async (tx, row) => {
    if (row.signInStatus !== 'pending') return false
    const revoked = { actor: SIGN_IN, now: await sharedTime(tx) }
    return (await revokeCredentials(tx, deps.events, { id }, revoked)) > 0
  })
  return { cancelled: cancelled ?? false }
}

const ORGANIZATION_OF = sql<{ organization_id: string }, [id: string]>(
  'select organization_id from credentials where id = $1 and sign_in_status is not null',
)
const LOCK = sql<{ id: string }, [id: string]>('select id from credentials where id = $1 for no key update')

/**
 * Locks the organization of a sign-in key first, as all changes that count do, and then the key.
 * @returns undefined when there is no such key.
 */
async function withLockedKey<T>(
  { db, turns }: Deps,
  id: string,
  work: (tx: Tx, row: Credential) => Promise<T>,
): Promise<T | undefined> {
  const [found] = await db.query(ORGANIZATION_OF, id)
  if (found === undefined) return undefined
  return turns.run(found.organization_id, () =>
    db.transaction(async (tx) => {
      if ((await lockOrganization(tx, found.organization_id)) === undefined) return undefined
      await tx.query(LOCK, id)
      const orm = await tx.orm()
      const row = await orm.credential.findUnique({ where: { id } })
      return row === null ? undefined : work(tx, row)
    }),
  )
}

const HOLD_KEY = sql<never, [fingerprint: string]>(
  "select pg_advisory_xact_lock(hashtextextended('public key ' || $1, 0))",
)
const USED = sql<{ id: string }, [fingerprint: string, id: string]>(`
select id from credentials where (fingerprint = $1 or sign_in_fingerprint = $1) and id <> $2 limit 1`)

/** Whether another credential has this public key. Two activations with one key come one after the other. */
async function isUsed(tx: Tx, fingerprint: string, id: string): Promise<boolean> {
  await tx.query(HOLD_KEY, fingerprint)
  return (await tx.query(USED, fingerprint, id)).length > 0
}

function activated(expiresAt: Date): Response {
  return { outcome: 'activated', expires_at: expiresAt.toISOString() }
}
