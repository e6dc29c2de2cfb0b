import type { Caller } from '@restante/contracts/access'
import type { SignInKeyRevocation } from '@restante/contracts/resources'
import { isUuid } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { ApiError, invalid } from '@restante/service/errors'
import { type ScopeFilter, scopeFilter } from '@restante/service/identity'
import type { Actor } from '../audit/actor.ts'
import { revokeCredentials } from '../credentials/store.ts'
import { type Writes, writeHolding } from '../organizations/writes.ts'
import { sharedTime, type Tx } from '../storage/database.ts'
import type { TenancyEvents } from '../tenancy/events.ts'

interface Receipt {
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly generation: number
  readonly revoked_at: Date
}

const FIND = sql<Receipt, [organizationId: string, key: string]>(`
select pod_id, inbox_uid, generation, revoked_at
  from sign_in_key_revocations where organization_id = $1 and idempotency_key = $2`)

const NEXT = sql<{ generation: number }, [organizationId: string]>(`
update organizations set sign_in_generation = sign_in_generation + 1 where id = $1
returning sign_in_generation as generation`)

const KEEP = sql<
  never,
  [organizationId: string, key: string, pod: string | null, inbox: string | null, generation: number, at: string]
>(`
insert into sign_in_key_revocations (organization_id, idempotency_key, pod_id, inbox_uid, generation, revoked_at)
values ($1, $2, $3, $4, $5, $6)`)

/**
 * Revokes all sign-in keys in the scope of a caller, pending and active (identity 3.1). A repetition with the same key
 * gets the same receipt and revokes nothing; without a key each request revokes.
 * @param key of the header Idempotency-Key.
 * @throws ApiError 400 when it is no UUID; 409 when it was used for another scope.
 */
export function revokeAllSignInKeys(
  deps: Writes & { readonly events: TenancyEvents },
  caller: Caller,
  key: string | undefined,
  actor: Actor,
): Promise<SignInKeyRevocation> {
  if (key !== undefined && !isUuid(key)) throw invalid(['headers', 'idempotency-key'], 'Must be a UUID')
  const scope = scopeFilter(caller)
  return writeHolding(deps, caller, async (tx) => {
    const known = key === undefined ? undefined : await findReceipt(tx, scope, key)
    if (known !== undefined) return known
    const now = await sharedTime(tx)
    const { organizationId, podId, inboxUid } = scope
    const within = { ...(podId !== undefined && { podId }), ...(inboxUid !== undefined && { inboxUid }) }
    const all = { organizationId, ...within, signInStatus: { not: null } }
    await revokeCredentials(tx, deps.events, all, { actor, now })
    const [{ generation } = { generation: 1 }] = await tx.query(NEXT, organizationId)
    if (key !== undefined) {
      await tx.query(KEEP, organizationId, key, podId ?? null, inboxUid ?? null, generation, now.toISOString())
    }
    return receiptOf(generation, now)
  })
}

async function findReceipt(tx: Tx, scope: ScopeFilter, key: string): Promise<SignInKeyRevocation | undefined> {
  const [found] = await tx.query(FIND, scope.organizationId, key)
  if (found === undefined) return undefined
  const isSame = found.pod_id === (scope.podId ?? null) && found.inbox_uid === (scope.inboxUid ?? null)
  if (isSame) return receiptOf(found.generation, found.revoked_at)
  throw new ApiError('conflict', {
    message: 'This Idempotency-Key was used with a key of another scope',
    fix: 'Use a new Idempotency-Key.',
  })
}

function receiptOf(generation: number, at: Date): SignInKeyRevocation {
  return { previous_generation: generation - 1, current_generation: generation, revoked_at: at.toISOString() }
}
