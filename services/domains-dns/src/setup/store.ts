import { createHash, randomBytes } from 'node:crypto'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** How long an owner may take at the DNS provider. */
export const SETUP_SECONDS = 3_600
const STATE_BYTES = 32
const STATE = /^[\w-]{43}$/

/** An owner who was sent to the DNS provider of a domain, and the credential that asked for the link. */
export interface Setup {
  readonly domain_uid: string
  readonly organization_id: string
  readonly credential_id: string
}

const INSERT = sql<
  never,
  [stateHash: Uint8Array, domainUid: string, organizationId: string, credentialId: string, seconds: number]
>(
  `insert into domain_setups (state_hash, domain_uid, organization_id, credential_id, expires_at)
   values ($1, $2, $3, $4, now() + $5 * interval '1 second')`,
)

/**
 * Stores a setup for an hour, under the hash of its state: who reads the table cannot come back with it.
 * @returns the state: 32 random bytes in base64url.
 */
export async function insertSetup(on: Queryable, setup: Setup): Promise<string> {
  const state = randomBytes(STATE_BYTES).toString('base64url')
  const { domain_uid, organization_id, credential_id } = setup
  await on.query(INSERT, hashOf(state), domain_uid, organization_id, credential_id, SETUP_SECONDS)
  return state
}

const TAKE = sql<Setup, [stateHash: Uint8Array]>(
  `delete from domain_setups where state_hash = $1 and expires_at > now()
   returning domain_uid, organization_id, credential_id`,
)

/** Ends the setup of a state, which counts once. @returns undefined when it is unknown, used or expired. */
export async function takeSetup(tx: Tx, state: string): Promise<Setup | undefined> {
  if (!STATE.test(state)) return undefined
  const [setup] = await tx.query(TAKE, hashOf(state))
  return setup
}

const DELETE_OF = sql<never, [organizationId: string]>('delete from domain_setups where organization_id = $1')

/** For the purge of an organization. */
export async function deleteSetups(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(DELETE_OF, organizationId)
}

/** Removes expired setups. */
export const SWEEP_EXPIRED = sql<{ readonly state_hash: Uint8Array }, [limit: number]>(
  `delete from domain_setups where state_hash in
     (select state_hash from domain_setups where expires_at <= now() order by expires_at limit $1 for update skip locked)
   returning state_hash`,
)

function hashOf(state: string): Uint8Array {
  return createHash('sha256').update(state).digest()
}
