import type { SignInCredential, SignInFacts, SignInInbox } from '@restante/contracts/internal'

/** Facts of a sign-in that may go on. */
export interface Standing {
  readonly credential: SignInCredential
  readonly inbox: SignInInbox
}

/** Why a sign-in cannot go on, as a word for the audit log. */
export type Refusal =
  | 'key_revoked'
  | 'inbox_deleted'
  | 'organization_inactive'
  | 'account_disabled'
  | 'signup_limit'
  | 'app_removed'

/** The first reason, in the order of apps 6.4, for which the gateway's facts refuse a sign-in. */
export function standingOf({ credential, inbox, organization }: SignInFacts): Standing | Refusal {
  if (credential?.app_connect !== true || !isUsable(credential)) return 'key_revoked'
  if (inbox === undefined) return 'inbox_deleted'
  if (!covers(credential, inbox)) return 'key_revoked'
  if (organization !== 'active') return 'organization_inactive'
  return { credential, inbox }
}

/** Whether a key can prove an inbox: a pending sign-in key has no public key yet. */
export function isUsable({ family, status, jwk }: SignInCredential): boolean {
  return jwk !== undefined && (family === 'registered' || status === 'active')
}

/** Whether an inbox is in the scope of a key. */
export function covers(credential: SignInCredential, inbox: SignInInbox): boolean {
  const { organization_id, pod_id, inbox_uid } = credential
  if (organization_id !== inbox.organization_id) return false
  if (inbox_uid !== undefined) return inbox_uid === inbox.inbox_uid
  return pod_id === undefined || pod_id === inbox.pod_id
}
