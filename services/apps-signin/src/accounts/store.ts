import type { AccountState } from '@restante/contracts/events'
import type { Account } from '@restante/contracts/resources'
import { type Queryable, sql } from '@restante/service/database'

/** An account as it is stored, with what it shows of its app. */
export interface AccountRow {
  readonly id: string
  readonly app_id: string
  readonly app_kind: 'registered' | 'open'
  readonly app_name: string | null
  readonly client_id: string
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly address: string
  readonly first_signed_in_at: Date
  readonly last_signed_in_at: Date
  readonly sign_in_count: number
  readonly disabled_at: Date | null
  readonly version: number
}

/** Every column of `AccountRow`, of `accounts` joined with `apps`. */
export const ACCOUNT_COLUMNS = `accounts.id, accounts.app_id, apps.kind as app_kind, apps.name as app_name,
  apps.client_id, accounts.organization_id, accounts.pod_id, accounts.inbox_uid, accounts.address,
  accounts.first_signed_in_at, accounts.last_signed_in_at, accounts.sign_in_count, accounts.disabled_at, accounts.version`

/** The public document. Clients of either age find the app's id and name under the names that they know. */
export function accountDocument(row: AccountRow): Account {
  return {
    account_id: row.id,
    app_id: row.app_id,
    ...(row.app_name !== null && { app_name: row.app_name }),
    provider_id: row.app_id,
    ...(row.app_name !== null && { provider_name: row.app_name }),
    organization_id: row.organization_id,
    pod_id: row.pod_id,
    inbox_id: row.address,
    first_signed_in_at: row.first_signed_in_at.toISOString(),
    last_signed_in_at: row.last_signed_in_at.toISOString(),
    sign_in_count: row.sign_in_count,
    ...(row.disabled_at !== null && { status: 'disabled' as const, disabled_at: row.disabled_at.toISOString() }),
  }
}

/** The state that other services learn. */
export function accountState(row: AccountRow): AccountState {
  return {
    organization_id: row.organization_id,
    pod_id: row.pod_id,
    inbox_uid: row.inbox_uid,
    account_id: row.id,
    ...(row.app_kind === 'registered' && { app_id: row.app_id }),
    client_id: row.client_id,
    version: row.version,
    status: row.disabled_at === null ? 'enabled' : 'disabled',
    ...(row.disabled_at !== null && { disabled_at: row.disabled_at.toISOString() }),
    first_signed_in_at: row.first_signed_in_at.toISOString(),
    last_signed_in_at: row.last_signed_in_at.toISOString(),
    sign_in_count: row.sign_in_count,
  }
}

const IS_DISABLED = sql<{ disabled: boolean }, [clientId: string, inboxUid: string]>(
  `select accounts.disabled_at is not null as disabled
     from accounts join apps on apps.id = accounts.app_id where apps.client_id = $1 and accounts.inbox_uid = $2`,
)

/** Whether the account of an inbox at a client exists and is disabled: then nothing signs it in there. */
export async function isAccountDisabled(on: Queryable, clientId: string, inboxUid: string): Promise<boolean> {
  const [row] = await on.query(IS_DISABLED, clientId, inboxUid)
  return row?.disabled ?? false
}
