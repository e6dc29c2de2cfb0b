import type { SignInFacts, SignInOwner } from '@restante/contracts/internal'
import { OWNER_SCOPES, type SignInScope } from '@restante/contracts/vocabulary'
import type { Client } from '../apps/find.ts'
import { hashOf } from './secrets.ts'

/** What was allowed when the code was issued. */
interface Granted {
  readonly scopes: readonly SignInScope[]
  readonly owner_hash: Uint8Array | null
  readonly owner_approved: boolean
}

/**
 * What still goes out of what was granted: scopes that the app has lost since do not, nor owner scopes that the key has
 * lost and the owner did not allow.
 */
export function scopesNow(granted: Granted, client: Client, { credential }: SignInFacts): readonly SignInScope[] {
  const shares = granted.owner_approved || credential?.app_share_owner === true
  return granted.scopes.filter((scope) => mayAsk(client, scope) && (shares || !isOwnerScope(scope)))
}

/** The owner whose facts were allowed to go out; undefined as soon as another one, or none, is attached. */
export function ownerNow({ owner_hash: allowed }: Granted, { owner }: SignInFacts): SignInOwner | undefined {
  if (owner === undefined || allowed === null) return undefined
  return Buffer.compare(hashOf(owner.id), allowed) === 0 ? owner : undefined
}

/** Whether a client may ask for a scope. `openid` makes a request a sign-in, so no app lacks it. */
export function mayAsk(client: Client, scope: SignInScope): boolean {
  return scope === 'openid' || client.scopes.includes(scope)
}

/** Whether a scope releases facts about the owner. */
export function isOwnerScope(scope: SignInScope): boolean {
  return OWNER_SCOPES.some((one) => one === scope)
}
