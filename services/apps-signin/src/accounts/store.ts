import type { AccountState } from '@restante/contracts/events'
import type { Account } from '@restante/contracts/resources'
import { isUuid } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeysetPage } from '@restante/service/http'
import type { ScopeFilter } from '@restante/service/identity'

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

/** The rows of a scope that are not being purged, with `$1` to `$3`, the values of a scope. */
const IN_SCOPE = `accounts.organization_id = $1 and ($2::uuid is null or accounts.pod_id = $2)
  and ($3::uuid is null or accounts.inbox_uid = $3)
  and not exists (select from deleted_scopes where deleted_scopes.id = accounts.inbox_uid)`
type Scope = [organizationId: string, podId: string | null, inboxUid: string | null]
type After = [time: string | null, id: string | null, rows: number]

const FROM = `select ${ACCOUNT_COLUMNS} from accounts join apps on apps.id = accounts.app_id where ${IN_SCOPE}`

function scopeValues({ organizationId, podId, inboxUid }: ScopeFilter): Scope {
  return [organizationId, podId ?? null, inboxUid ?? null]
}

function afterValues({ after, take }: KeysetPage): After {
  return [after?.time.toISOString() ?? null, after?.id ?? null, take]
}

const NEWEST_FIRST = sql<AccountRow, [...Scope, ...After]>(
  `${FROM} and ($4::timestamptz is null or (accounts.first_signed_in_at, accounts.id) < ($4, $5::uuid))
   order by accounts.first_signed_in_at desc, accounts.id desc limit $6`,
)
const OLDEST_FIRST = sql<AccountRow, [...Scope, ...After]>(
  `${FROM} and ($4::timestamptz is null or (accounts.first_signed_in_at, accounts.id) > ($4, $5::uuid))
   order by accounts.first_signed_in_at, accounts.id limit $6`,
)

/** A page of the accounts of a scope, by their first sign-in, which never changes. */
export function listAccounts(on: Queryable, scope: ScopeFilter, page: KeysetPage): Promise<AccountRow[]> {
  return on.query(page.ascending ? OLDEST_FIRST : NEWEST_FIRST, ...scopeValues(scope), ...afterValues(page))
}

const AT_APP = sql<AccountRow, [...Scope, ...After, appId: string]>(
  `${FROM} and accounts.app_id = $7
     and ($4::timestamptz is null or (accounts.last_signed_in_at, accounts.id) < ($4, $5::uuid))
   order by accounts.last_signed_in_at desc, accounts.id desc limit $6`,
)

/** A page of the accounts of a scope at one app, the latest sign-in first. */
export function listAccountsAt(
  on: Queryable,
  scope: ScopeFilter,
  appId: string,
  page: KeysetPage,
): Promise<AccountRow[]> {
  return on.query(AT_APP, ...scopeValues(scope), ...afterValues(page), appId)
}

const FIND = sql<AccountRow, [...Scope, id: string]>(`${FROM} and accounts.id = $4`)

/** One account of a scope. */
export async function findAccount(on: Queryable, scope: ScopeFilter, id: string): Promise<AccountRow | undefined> {
  const [row] = isUuid(id) ? await on.query(FIND, ...scopeValues(scope), id) : []
  return row
}

const SET_STATUS = sql<AccountRow & { changed_at: Date }, [id: string, disabled: boolean]>(
  `with changed as (
     update accounts set disabled_at = case when $2::boolean then now() end, version = version + 1
      where id = $1 and (disabled_at is null) = $2::boolean
     returning *)
   select ${ACCOUNT_COLUMNS}, now() as changed_at from changed as accounts join apps on apps.id = accounts.app_id`,
)

/** Disables an account, or enables it again; undefined when it was so already, or is gone. */
export async function setStatus(
  tx: Tx,
  id: string,
  disabled: boolean,
): Promise<(AccountRow & { changed_at: Date }) | undefined> {
  const [row] = await tx.query(SET_STATUS, id, disabled)
  return row
}
