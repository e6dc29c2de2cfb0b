import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { findClient } from '../apps/find.ts'
import type { BoundTransaction } from './bound.ts'
import type { Proven } from './gate.ts'

export interface ProveOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'apps-signin'>
  readonly openClients: boolean
}

/** A proven sign-in with facts as of now; undefined when its app was removed. */
export async function proveAgain(
  { db, gateway, openClients }: ProveOptions,
  transaction: BoundTransaction,
): Promise<Proven | undefined> {
  const { client_id, api_key_id, inbox_uid } = transaction
  const client = await findClient(db, client_id, { open: openClients })
  if (client === undefined) return undefined
  const facts = await gateway.call('gateway.getSignInFacts', { api_key_id, inbox: { uid: inbox_uid }, used: false })
  return { transaction, client, facts }
}
