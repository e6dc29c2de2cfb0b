import { type AccountState, topics } from '@restante/contracts/events'
import type { SignInScope } from '@restante/contracts/vocabulary'

const { event } = topics['apps.accounts']

/** The inbox that an event is about, by its immutable identities. */
export interface EventInbox {
  readonly organizationId: string
  readonly podId: string
  readonly inboxUid: string
}

/** The client that an event is about: `appId` of a registered app only. */
export interface EventClient {
  readonly appId: string | undefined
  readonly clientId: string
}

/** One step of a sign-in. */
export interface Attempt {
  readonly inbox: EventInbox
  readonly client: EventClient
  /** `jti` of the transaction; undefined: an agent consents before the app has begun one. */
  readonly transaction: string | undefined
  readonly credentialId?: string | undefined
  readonly at: Date
}

type Approver = 'sign_in_key' | 'registered_key' | 'person' | 'agent' | 'owner'

/** The full state of an account that has changed. */
export function accountChanged(state: AccountState, at: Date) {
  return event('account.changed', state, { time: at })
}

/** A key disabled an account, or enabled it again. */
export function accountStatusChanged(state: AccountState, credentialId: string, at: Date) {
  const { organization_id, pod_id, inbox_uid, account_id, app_id, client_id, status } = state
  const placed = { organization_id, pod_id, inbox_uid, account_id, ...(app_id !== undefined && { app_id }), client_id }
  const payload = { ...placed, status, credential_id: credentialId, at: at.toISOString() }
  return event('account.status_changed', payload, { time: at })
}

/** A step of a sign-in was approved. */
export function signInApproved(attempt: Attempt, by: Approver) {
  return event('sign_in.approved', { ...facts(attempt), by }, { time: attempt.at })
}

/** A sign-in ended without a code. @param reason a word for the audit log, such as `account_disabled`. */
export function signInRefused(attempt: Attempt, reason: string) {
  return event('sign_in.refused', { ...facts(attempt), reason }, { time: attempt.at })
}

/** An app exchanged the code of a sign-in. */
export function signInCompleted(attempt: Attempt, accountId: string, scopes: readonly SignInScope[]) {
  const payload = { ...facts(attempt), account_id: accountId, scopes: [...scopes] }
  return event('sign_in.completed', payload, { time: attempt.at })
}

function facts({ inbox, client, transaction, credentialId, at }: Attempt) {
  return {
    organization_id: inbox.organizationId,
    pod_id: inbox.podId,
    inbox_uid: inbox.inboxUid,
    ...(client.appId !== undefined && { app_id: client.appId }),
    client_id: client.clientId,
    ...(transaction !== undefined && { transaction }),
    ...(credentialId !== undefined && { credential_id: credentialId }),
    at: at.toISOString(),
  }
}
