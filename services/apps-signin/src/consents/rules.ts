import { OWNER_SCOPES, type SignInScope } from '@restante/contracts/vocabulary'
import type { Client } from '../apps/find.ts'
import { matchesRedirectUri } from '../apps/redirect-uris.ts'
import type { Transaction } from '../transactions/store.ts'

/** What was accepted to be shared with a client before, as it is stored. */
export interface RememberedConsent {
  readonly scopes: readonly SignInScope[]
  /** Null: an agent accepted in advance, when no sign-in had named one yet. */
  readonly redirect_uri: string | null
  readonly disclosure_version: number
  /** SHA-256 of the id of the owner whose facts were accepted; null: of none. */
  readonly owner_hash: Uint8Array | null
  readonly given_by: 'person' | 'agent'
  /** Whether its 180 days have not ended. */
  readonly fresh: boolean
}

interface Question {
  readonly transaction: Pick<Transaction, 'scopes' | 'redirect_uri' | 'prompt' | 'consented_at'>
  readonly client: Pick<Client, 'disclosureVersion'>
  /** Of the owner whose facts a consent would release; undefined: of none. */
  readonly ownerHash: Uint8Array | undefined
  readonly remembered: RememberedConsent | undefined
}

/** Whether the page must ask before the app gets anything (apps 7.3). */
export function mustAsk({ transaction, client, ownerHash, remembered }: Question): boolean {
  if (transaction.consented_at !== null) return false
  if (transaction.prompt === 'consent' || remembered === undefined || !remembered.fresh) return true
  if (remembered.disclosure_version !== client.disclosureVersion) return true
  if (!coversScopes(remembered, transaction.scopes)) return true
  if (ownerHash !== undefined && !equals(remembered.owner_hash, ownerHash)) return true
  const { redirect_uri: accepted } = remembered
  return accepted !== null && !matchesRedirectUri([accepted], transaction.redirect_uri)
}

/**
 * A person has seen exactly the scopes of a sign-in, so any other set is a change. An agent accepts what the app may ask
 * for at all, so a part of it is none.
 */
function coversScopes({ given_by, scopes }: RememberedConsent, requested: readonly SignInScope[]): boolean {
  const covered = requested.every((scope) => scopes.includes(scope))
  return covered && (given_by === 'agent' || scopes.length === requested.length)
}

/** Whether a sign-in asks for facts about the human owner. */
export function asksOwner(scopes: readonly SignInScope[]): boolean {
  return scopes.some(isOwnerScope)
}

/** Whether a scope releases facts about the human owner. */
export function isOwnerScope(scope: SignInScope): boolean {
  return OWNER_SCOPES.some((one) => one === scope)
}

function equals(a: Uint8Array | null, b: Uint8Array): boolean {
  return a !== null && Buffer.compare(a, b) === 0
}
