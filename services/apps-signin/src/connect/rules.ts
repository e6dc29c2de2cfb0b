import type { Caller } from '@restante/contracts/access'
import { OWNER_SCOPES, type SignInScope } from '@restante/contracts/vocabulary'
import type { Database } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { requirePermission } from '@restante/service/identity'
import { isAccountDisabled } from '../accounts/store.ts'
import type { Client } from '../apps/find.ts'
import { admitSignUp } from '../apps/sign-ups.ts'
import { accountDisabled, signUpRefused } from './refusals.ts'

/** An agent that begins or authorizes a sign-in. */
interface Beginning {
  readonly caller: Caller
  readonly client: Client
  readonly inboxUid: string
  /** Scopes that are accepted in advance, if any are: those that the app may ask for, or those that it asks for. */
  readonly scopes: readonly SignInScope[]
  readonly acceptDisclosure: boolean
}

/** The gateway refuses these keys as well; it decides by what it knew when the request began. @throws ApiError 403 */
export function requireVerified({ unverified }: Caller): void {
  if (!unverified) return
  throw new ApiError('missing_permission', {
    fix: 'The human of this organization is not verified yet. Verify first, then sign in to apps.',
  })
}

/**
 * Rows 5 to 8 of apps 2, which hold for apps 3 too, in this order. The sign-up limit is decided again when the code is
 * issued.
 * @throws ApiError 403 or 404
 */
export async function requireAdmitted(db: Database, beginning: Beginning): Promise<void> {
  const { caller, client, inboxUid, scopes, acceptDisclosure } = beginning
  if (await isAccountDisabled(db, client.clientId, inboxUid)) throw accountDisabled()
  if (acceptDisclosure && client.kind === 'open') throw notFound('App')
  if (acceptDisclosure && OWNER_SCOPES.some((scope) => scopes.includes(scope))) {
    requirePermission(caller.credential, 'app_share_owner')
  }
  const { appId } = client
  if (appId === undefined) return
  const signingUp = { appId, organizationId: caller.organization_id, inboxUid }
  const refusal = await db.transaction((tx) => admitSignUp(tx, signingUp))
  if (refusal !== undefined) throw signUpRefused(refusal)
}
