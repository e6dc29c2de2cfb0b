import type { SignInFacts } from '@restante/contracts/internal'
import type { Client } from '../apps/find.ts'
import { type AskOwnerOptions, askOwner } from './ask-owner.ts'
import type { BoundTransaction } from './bound.ts'
import { ownerHashOf } from './owner-hash.ts'
import { asksOwner, mustAsk } from './rules.ts'
import { findConsent } from './store.ts'

/** A sign-in that a key has proven, and what the gateway knew of it just now. */
export interface Proven {
  readonly transaction: BoundTransaction
  readonly client: Client
  readonly facts: SignInFacts
}

/**
 * What stands between a proven sign-in and its code (apps 7.3). `open`: nothing. `ask`: the person at the browser.
 * `owner`: the human owner, who was mailed. `refused`: it ends, with an error of OAuth and its description.
 */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'owner'; readonly expiresAt: Date }
  | {
      readonly kind: 'refused'
      readonly outcome: 'access_denied' | 'consent_required'
      readonly reason: string
    }

/** Determines it. The owner is asked last, so that a refusal at the browser sends no mail. */
export async function consentGate(options: AskOwnerOptions, proven: Proven): Promise<Gate> {
  const { transaction, client, facts } = proven
  const ownerHash = facts.owner && ownerHashOf(facts.owner)
  const isOwnerAsked = asksOwner(transaction.scopes)
  if (isOwnerAsked && !isSameOwner(transaction.owner_hash, ownerHash)) return refused('owner_unavailable')
  const remembered = await findConsent(options.db, transaction.client_id, transaction.inbox_uid)
  const shared = sharesOwner(proven) ? ownerHash : undefined
  const isSilent = transaction.prompt === 'none'
  if (mustAsk({ transaction, client, ownerHash: shared, remembered }))
    return isSilent ? consentRequired() : { kind: 'ask' }
  if (facts.owner === undefined || !isOwnerAsked) return { kind: 'open' }
  // The page said that the owner will be asked. If the key was given the right to share afterwards, the owner is still asked.
  const wasShown = transaction.consented_at === null || transaction.owner_hash !== null
  if (shared !== undefined && wasShown) return { kind: 'open' }
  if (transaction.owner_approved_at !== null) return { kind: 'open' }
  if (isSilent) return consentRequired()
  return ofOwner(await askOwner(options, { transaction, client, owner: facts.owner }))
}

/** Whether the key of a sign-in releases the facts about the owner that the app asks for, without asking the owner. */
export function sharesOwner({ transaction, facts }: Pick<Proven, 'transaction' | 'facts'>): boolean {
  return asksOwner(transaction.scopes) && facts.credential?.app_share_owner === true
}

/** Facts about an owner are released only if they are those of the owner that was shown, or who has allowed it. */
function isSameOwner(shown: Uint8Array | null, current: Uint8Array | undefined): boolean {
  return current !== undefined && (shown === null || Buffer.compare(shown, current) === 0)
}

function ofOwner(asked: Awaited<ReturnType<typeof askOwner>>): Gate {
  switch (asked.kind) {
    case 'waiting':
      return { kind: 'owner', expiresAt: asked.expiresAt }
    case 'allowed':
      return { kind: 'open' }
    case 'timeout':
      return refused('owner_timeout')
    case 'limited':
      return refused('owner_limit')
    case 'unavailable':
      return refused('owner_unavailable')
    case 'over':
      return refused('owner_refused')
    default:
      return asked satisfies never
  }
}

function refused(reason: string): Gate {
  return { kind: 'refused', outcome: 'access_denied', reason }
}

function consentRequired(): Gate {
  return { kind: 'refused', outcome: 'consent_required', reason: 'The sign-in needs an answer of a person' }
}
