import { topics } from '@restante/contracts/events'
import type { SignInScope } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Client } from '../apps/find.ts'
import { ownerHashOf } from '../consents/owner-hash.ts'
import { asksOwner } from '../consents/rules.ts'
import { recordConsent } from '../consents/store.ts'
import { signInApproved } from '../events/events.ts'

/** A consent that an agent gives before anything was shown (apps 7.3). */
export interface AgentConsent {
  readonly client: Client
  readonly inbox: { readonly organizationId: string; readonly podId: string; readonly inboxUid: string }
  readonly scopes: readonly SignInScope[]
  /** Null: whichever the app has registered. */
  readonly redirectUri: string | null
  readonly ownerHash: Uint8Array | null
  /** The key of the agent. */
  readonly credentialId: string
  /** `jti` of the sign-in; undefined: the app has not begun it yet. */
  readonly transaction: string | undefined
}

/** Of the owner whose facts the consent covers; null: the app asks for none, or there is none. */
export async function ownerCovered(
  gateway: ServiceClient<'apps-signin'>,
  inboxUid: string,
  scopes: readonly SignInScope[],
): Promise<Uint8Array | null> {
  if (!asksOwner(scopes)) return null
  const { owner } = await gateway.call('gateway.getSignInFacts', { inbox: { uid: inboxUid }, used: false })
  return owner === undefined ? null : ownerHashOf(owner)
}

/** Records it for exactly the scopes and the disclosure that are current now. */
export async function recordAgentConsent(tx: Tx, outbox: Outbox, consent: AgentConsent): Promise<void> {
  const { client, inbox, scopes, redirectUri, ownerHash, credentialId, transaction } = consent
  const { organizationId, inboxUid } = inbox
  const { clientId, disclosureVersion } = client
  const given = { clientId, organizationId, inboxUid, scopes, redirectUri, disclosureVersion, ownerHash }
  const at = await recordConsent(tx, { ...given, givenBy: 'agent' })
  const attempt = { inbox, client, transaction, credentialId, at }
  await outbox.add(tx, topics['apps.accounts'], signInApproved(attempt, 'agent'))
}
