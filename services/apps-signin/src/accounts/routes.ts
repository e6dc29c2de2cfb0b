import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { type Cursors, type Handlers, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { accountChanged, accountStatusChanged } from '../events/events.ts'
import { type AccountRow, accountDocument, accountState, findAccount, listAccounts, setStatus } from './store.ts'

export interface AccountRouteOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly cursors: Cursors
}

type Accounts = Pick<Handlers<'apps-signin'>, 'accounts.list' | 'accounts.get' | 'accounts.update' | 'accounts.patch'>
type Status = 'disabled' | 'enabled'

/** The accounts of the caller's inboxes. */
export function accountRoutes(deps: AccountRouteOptions): Accounts {
  const { db, cursors } = deps
  const update = async (caller: Caller, id: string, status: Status) =>
    accountDocument(await updateAccount(deps, caller, id, status))
  return {
    'accounts.list': async ({ caller, query }) => {
      const scope = scopeFilter(caller)
      const page = new KeysetPage(cursors, { operation: 'accounts.list', within: scope, query })
      const position = (row: AccountRow) => ({ time: row.first_signed_in_at, id: row.id })
      const { items, members } = page.answer(await listAccounts(db, scope, page), position, accountDocument)
      return { ...members, limit: members.limit ?? LIMITS.page.default, accounts: items }
    },

    'accounts.get': async ({ caller, params }) => {
      const row = await findAccount(db, scopeFilter(caller), params.account_id)
      if (!row) throw notFound('Account')
      return accountDocument(row)
    },

    'accounts.update': ({ caller, params, body }) => update(caller, params.account_id, body.status),

    'accounts.patch': ({ caller, params, body }) => update(caller, params.account_id, body.status),
  }
}

/**
 * Sets the status of an account; one that it has already changes nothing, so that the first `disabled_at` stays.
 * @throws ApiError 409 `race_condition` when another request set the other status between the read and the write.
 */
async function updateAccount(
  { db, outbox }: AccountRouteOptions,
  caller: Caller,
  id: string,
  status: Status,
): Promise<AccountRow> {
  // The gateway grants the permission to no public key, and a bearer key without a list of permissions has it.
  if (caller.credential.type !== 'bearer') throw new ApiError('missing_permission')
  const scope = scopeFilter(caller)
  const before = await findAccount(db, scope, id)
  if (!before) throw notFound('Account')
  if (statusOf(before) === status) return before
  const changed = await db.transaction(async (tx) => {
    const row = await setStatus(tx, before.id, status === 'disabled')
    if (!row) return undefined
    const [state, at] = [accountState(row), row.changed_at]
    const events = [accountChanged(state, at), accountStatusChanged(state, caller.credential.id, at)]
    await outbox.addAll(tx, topics['apps.accounts'], events)
    return row
  })
  if (changed) return changed
  const after = await findAccount(db, scope, id)
  if (!after) throw notFound('Account')
  // Another request with the same wish came first.
  if (statusOf(after) === status) return after
  throw new ApiError('race_condition')
}

function statusOf({ disabled_at }: AccountRow): Status {
  return disabled_at === null ? 'enabled' : 'disabled'
}
