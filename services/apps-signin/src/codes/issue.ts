import { topics } from '@restante/contracts/events'
import type { SignInFacts } from '@restante/contracts/internal'
import type { Outbox } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { holdScopes } from '@restante/tenancy'
import { isAccountDisabled } from '../accounts/store.ts'
import { allowsRedirect, type Client, findClient } from '../apps/find.ts'
import { admitSignUp } from '../apps/sign-ups.ts'
import { signInRefused } from '../events/events.ts'
import { end, type Outcome } from '../transactions/steps.ts'
import { lockTransaction, type Transaction } from '../transactions/store.ts'
import { hashOf, newSecret } from './secrets.ts'
import { type Refusal, standingOf } from './standing.ts'
import { insertCode } from './store.ts'

export interface IssueOptions {
  readonly db: Database
  readonly outbox: Outbox
  /** Whether clients without a registration may sign inboxes in. */
  readonly openClients: boolean
}

/** A proven sign-in for which nothing is asked any more, with facts that are as recent as a call can be. */
interface Decided {
  readonly jti: string
  readonly facts: SignInFacts
}

/** `over`: it has ended before, in this or another process. */
export type Issued =
  | { readonly kind: 'code'; readonly code: string; readonly transaction: Transaction }
  | { readonly kind: 'refused'; readonly transaction: Transaction }
  | { readonly kind: 'over' }

/**
 * Issues the code of a sign-in, once, after everything was checked again in one transaction (apps 6.4). The locks order it
 * with whatever would refuse it: the deletion of the inbox, other sign-ups of the organization, and a second browser tab.
 */
export function issueCode({ db, outbox, openClients }: IssueOptions, { jti, facts }: Decided): Promise<Issued> {
  return db.transaction(async (tx) => {
    const transaction = await lockTransaction(tx, jti)
    if (!transaction?.live) return { kind: 'over' }
    const client = await findClient(tx, transaction.client_id, { open: openClients })
    const refusal = await refusalOf(tx, { transaction, client, facts })
    if (refusal !== undefined) return refuse({ tx, outbox }, transaction, refusal)
    const code = newSecret()
    await insertCode(tx, { ...codeOf(transaction, facts), hash: hashOf(code) })
    const ended = await end(tx, { jti, outcome: 'code' })
    return ended === undefined ? { kind: 'over' } : { kind: 'code', code, transaction: ended }
  })
}

/**
 * Ends a sign-in that would be refused a code, before anybody is asked anything.
 * @returns it when it has ended, now or before.
 */
export function refuseEarly(
  { db, outbox, openClients }: IssueOptions,
  { jti, facts }: Decided,
): Promise<Transaction | undefined> {
  return db.transaction(async (tx) => {
    const transaction = await lockTransaction(tx, jti)
    if (!transaction?.live) return transaction
    const client = await findClient(tx, transaction.client_id, { open: openClients })
    const refusal = await refusalOf(tx, { transaction, client, facts })
    if (refusal === undefined) return undefined
    const refused = await refuse({ tx, outbox }, transaction, refusal)
    return refused.kind === 'refused' ? refused.transaction : undefined
  })
}

/** The first reason against a code, in the order of apps 6.4. */
async function refusalOf(
  tx: Tx,
  { transaction, client, facts }: { transaction: Transaction; client: Client | undefined; facts: SignInFacts },
): Promise<Refusal | undefined> {
  const { organization_id, pod_id, inbox_uid, client_id, redirect_uri } = transaction
  if (client === undefined || !allowsRedirect(client, redirect_uri)) return 'app_removed'
  const standing = standingOf(facts)
  if (typeof standing === 'string') return standing
  const { inbox } = standing
  if (inbox.inbox_uid !== inbox_uid || inbox.organization_id !== organization_id) return 'inbox_deleted'
  if (!(await holdScopes(tx, [inbox_uid, inbox.pod_id, pod_id ?? inbox.pod_id, organization_id])))
    return 'inbox_deleted'
  if (await isAccountDisabled(tx, client_id, inbox_uid)) return 'account_disabled'
  if (client.appId === undefined) return undefined
  const at = { appId: client.appId, organizationId: organization_id, inboxUid: inbox_uid }
  return (await admitSignUp(tx, at)) === undefined ? undefined : 'signup_limit'
}

function codeOf(transaction: Transaction, { inbox, owner }: SignInFacts) {
  const { api_key_id, approved_at, owner_hash: shown } = transaction
  if (api_key_id === null || approved_at === null || inbox === undefined) throw new Error('no key proved the sign-in')
  const current = owner && hashOf(owner.id)
  const isShown = current !== undefined && (shown === null || current.equals(shown))
  return {
    jti: transaction.jti,
    app_id: transaction.app_id,
    client_id: transaction.client_id,
    redirect_uri: transaction.redirect_uri,
    code_challenge: transaction.code_challenge,
    scopes: transaction.scopes,
    nonce: transaction.nonce,
    organization_id: inbox.organization_id,
    pod_id: inbox.pod_id,
    inbox_uid: inbox.inbox_uid,
    address: inbox.address,
    api_key_id,
    owner_hash: isShown ? current : null,
    owner_approved: transaction.owner_approved_at !== null,
    auth_time: approved_at,
  }
}

/** The only reason that an app is told: its users can do something about it (apps 6.4). */
const TOLD: ReadonlySet<Refusal> = new Set(['signup_limit'])

/** Ends a sign-in without a code, and reports why to the audit log. */
async function refuse(
  { tx, outbox }: { readonly tx: Tx; readonly outbox: Outbox },
  transaction: Transaction,
  refusal: Refusal,
): Promise<Issued> {
  const reason = TOLD.has(refusal) ? { reason: refusal } : {}
  const ended = await endRefused(tx, outbox, { transaction, outcome: 'access_denied', word: refusal, ...reason })
  return ended === undefined ? { kind: 'over' } : { kind: 'refused', transaction: ended }
}

/** How a sign-in is refused: `word` for the audit log, `reason` for the app. */
export interface Refused {
  readonly transaction: Transaction
  readonly outcome: Outcome
  readonly word: string
  readonly reason?: string
}

/** Ends a sign-in without a code. @returns undefined when it has ended before. */
export async function endRefused(
  tx: Tx,
  outbox: Outbox,
  { transaction, outcome, word, reason }: Refused,
): Promise<Transaction | undefined> {
  const { jti, app_id, client_id } = transaction
  const ended = await end(tx, { jti, outcome, ...(reason !== undefined && { reason }) })
  if (ended === undefined) return undefined
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, api_key_id, ended_at: at } = ended
  // Without a bound inbox there is no organization whose audit log could have the entry.
  if (organizationId === null || podId === null || inboxUid === null || at === null) return ended
  const client = { appId: app_id ?? undefined, clientId: client_id }
  const inbox = { organizationId, podId, inboxUid }
  const attempt = { inbox, client, transaction: jti, at, ...(api_key_id !== null && { credentialId: api_key_id }) }
  await outbox.add(tx, topics['apps.accounts'], signInRefused(attempt, word))
  return ended
}
