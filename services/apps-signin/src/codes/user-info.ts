import type { Queryable } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { findClient } from '../apps/find.ts'
import { claimsOf, type Subjects } from './claims.ts'
import { ownerNow, scopesNow } from './disclosure.ts'
import { hashOf, isSecret } from './secrets.ts'
import { findToken } from './store.ts'

export interface UserInfoOptions {
  readonly db: Queryable
  readonly gateway: ServiceClient<'apps-signin'>
  readonly subjects: Subjects
  readonly openClients: boolean
}

/**
 * The claims of an access token, as they are now (apps 6.6). A disabled account does not end a token; the end of its key,
 * inbox, organization or app does.
 * @returns undefined when the token gives nothing.
 */
export async function userInfo(options: UserInfoOptions, accessToken: string): Promise<object | undefined> {
  const { db, gateway, subjects, openClients } = options
  const token = isSecret(accessToken) ? await findToken(db, hashOf(accessToken)) : undefined
  if (token === undefined) return undefined
  const client = await findClient(db, token.client_id, { open: openClients })
  if (client === undefined) return undefined
  const named = { api_key_id: token.api_key_id, inbox: { uid: token.inbox_uid } }
  const facts = await gateway.call('gateway.getSignInFacts', { ...named, used: false })
  const { credential, inbox } = facts
  if (credential === undefined || inbox?.organization_id !== token.organization_id) return undefined
  const scopes = scopesNow(token, client, facts)
  return claimsOf(subjects, { scopes, inbox, owner: ownerNow(token, facts), registered: client.kind === 'registered' })
}
