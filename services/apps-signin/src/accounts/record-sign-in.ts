import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import type { SignInScope } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { sql, type Tx } from '@restante/service/database'
import { holdScopes } from '@restante/tenancy'
import type { Client } from '../apps/find.ts'
import { recordSignUp } from '../apps/sign-ups.ts'
import { accountChanged, type EventInbox, signInCompleted } from '../events/events.ts'
import { ACCOUNT_COLUMNS, type AccountRow, accountState } from './store.ts'

/** A sign-in whose code a client exchanges. */
export interface SignIn {
  readonly client: Pick<Client, 'appId' | 'clientId'>
  readonly inbox: EventInbox & { readonly address: string }
  /** `jti` of the transaction. */
  readonly transaction: string
  /** The key that proved the inbox. */
  readonly credentialId: string
  readonly scopes: readonly SignInScope[]
}

/** `disabled`: the account is, and nothing was recorded. `gone`: the inbox, its pod or its organization is deleted. */
export type RecordedSignIn =
  | { readonly outcome: 'recorded'; readonly account: AccountRow }
  | { readonly outcome: 'disabled' | 'gone' }

// An open client has a row from its first sign-in on. Updating it locks it against the sweep of unused ones.
const OPEN_APP = sql<{ id: string }, [id: string, clientId: string]>(
  `insert into apps (id, kind, client_id, token_endpoint_auth_method) values ($1, 'open', $2, 'none')
   on conflict (client_id) do update set updated_at = now() returning id`,
)

const RECORD = sql<
  AccountRow,
  [id: string, appId: string, organizationId: string, podId: string, inboxUid: string, address: string]
>(
  `with recorded as (
     insert into accounts (id, app_id, organization_id, pod_id, inbox_uid, address, first_signed_in_at, last_signed_in_at, sign_in_count)
     values ($1, $2, $3, $4, $5, $6, now(), now(), 1)
     on conflict (app_id, inbox_uid) do update set
       last_signed_in_at = greatest(accounts.last_signed_in_at, now()), sign_in_count = accounts.sign_in_count + 1,
       address = excluded.address, version = accounts.version + 1
     where accounts.disabled_at is null
     returning *)
   select ${ACCOUNT_COLUMNS} from recorded as accounts join apps on apps.id = accounts.app_id`,
)

// What was accepted to be shared is remembered for 180 days from the latest sign-in (apps 7.3).
const REMEMBER = sql<never, [clientId: string, inboxUid: string]>(
  'update consents set used_at = now() where client_id = $1 and inbox_uid = $2',
)

/**
 * Records a sign-in in the transaction that exchanges its code: the account, created on the first one, that the inbox has
 * signed up, and the events. The account's row stays locked, so that disabling it either comes first or after the
 * exchange.
 */
export async function recordSignIn(tx: Tx, outbox: Outbox, signIn: SignIn): Promise<RecordedSignIn> {
  const { client, inbox } = signIn
  const { organizationId, podId, inboxUid, address } = inbox
  if (!(await holdScopes(tx, [inboxUid, podId, organizationId]))) return { outcome: 'gone' }
  const appId = client.appId ?? (await openAppOf(tx, client.clientId))
  const [account] = await tx.query(RECORD, randomUUID(), appId, organizationId, podId, inboxUid, address)
  if (account === undefined) return { outcome: 'disabled' }
  // A client without a registration has no limit to count for.
  if (client.appId !== undefined) await recordSignUp(tx, { appId, organizationId, inboxUid })
  await tx.query(REMEMBER, client.clientId, inboxUid)
  const { transaction, credentialId, scopes } = signIn
  const attempt = { inbox, client, transaction, credentialId, at: account.last_signed_in_at }
  await outbox.addAll(tx, topics['apps.accounts'], [
    accountChanged(accountState(account), attempt.at),
    signInCompleted(attempt, account.id, scopes),
  ])
  return { outcome: 'recorded', account }
}

async function openAppOf(tx: Tx, clientId: string): Promise<string> {
  const [app] = await tx.query(OPEN_APP, randomUUID(), clientId)
  if (app === undefined) throw new Error('the row of an open client was not stored')
  return app.id
}
