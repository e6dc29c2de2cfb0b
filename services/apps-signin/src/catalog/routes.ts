import type { Caller } from '@restante/contracts/access'
import type { Account } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Database } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import { type Cursors, type Handlers, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { type AccountRow, accountDocument, listAccountsAt } from '../accounts/store.ts'
import { nameKey } from '../apps/name-keys.ts'
import { namedAppId, resolveApp } from '../apps/resolve.ts'
import type { AppRow } from '../apps/store.ts'
import { appDocument, type CatalogRow, providerDocument } from './document.ts'
import { listApps } from './list.ts'
import { limitOf, searchCatalog } from './store.ts'

export interface CatalogRouteOptions {
  readonly db: Database
  readonly cursors: Cursors
}

type Catalog = Pick<
  Handlers<'apps-signin'>,
  | 'apps.list'
  | 'apps.search'
  | 'apps.get'
  | 'apps.listAccounts'
  | 'providers.list'
  | 'providers.search'
  | 'providers.get'
  | 'providers.listAccounts'
>

/** The catalog, under the present names and under those of older clients. */
export function catalogRoutes(deps: CatalogRouteOptions): Catalog {
  const { db } = deps
  const search = (caller: Caller, query: { readonly q: string; readonly limit?: number | undefined }) =>
    searchApps(db, caller, query)
  const get = async (caller: Caller, named: string) => {
    const row = await resolveApp(db, named)
    if (!row) throw notFound('App')
    return withLimit(db, caller, row)
  }
  return {
    'apps.list': async ({ caller, query }) => {
      const { apps, members } = await listApps(deps, caller.organization_id, query)
      return { ...members, apps: apps.map(appDocument) }
    },

    'apps.search': async ({ caller, query }) => {
      const { apps, members } = await search(caller, query)
      return { ...members, apps: apps.map(appDocument) }
    },

    'apps.get': async ({ caller, params }) => appDocument(await get(caller, params.app_id)),

    'apps.listAccounts': async ({ caller, params, query }) => {
      const { app, ...page } = await accountsAt(deps, caller, params.app_id, query)
      return { ...page, ...(app && { app: appDocument(app) }) }
    },

    'providers.list': async ({ caller, query }) => {
      const { apps, members } = await listApps(deps, caller.organization_id, query)
      return { ...members, providers: apps.map(providerDocument) }
    },

    'providers.search': async ({ caller, query }) => {
      const { apps, members } = await search(caller, query)
      return { ...members, providers: apps.map(providerDocument) }
    },

    'providers.get': async ({ caller, params }) => providerDocument(await get(caller, params.app_id)),

    'providers.listAccounts': async ({ caller, params, query }) => {
      const { app, ...page } = await accountsAt(deps, caller, params.app_id, query)
      return { ...page, ...(app && { provider: providerDocument(app) }) }
    },
  }
}

async function searchApps(
  db: Database,
  caller: Caller,
  { q, limit = LIMITS.page.default }: { readonly q: string; readonly limit?: number | undefined },
) {
  const key = nameKey(q)
  const apps = key === '' ? [] : await searchCatalog(db, caller.organization_id, key, limit)
  return { apps, members: { count: apps.length, limit } }
}

/**
 * The caller's accounts at an app, the latest sign-in first. They stay readable at an app that was removed, and at an open
 * client, which no document describes.
 */
async function accountsAt(
  { db, cursors }: CatalogRouteOptions,
  caller: Caller,
  named: string,
  query: { readonly limit?: number | undefined; readonly page_token?: string | undefined },
): Promise<{
  count: number
  limit: number
  next_page_token: string | undefined
  accounts: Account[]
  app: CatalogRow | undefined
}> {
  const row = await resolveApp(db, named)
  const appId = row?.id ?? namedAppId(named)
  const scope = scopeFilter(caller)
  const page = new KeysetPage(cursors, { operation: 'apps.listAccounts', within: { ...scope, app: appId }, query })
  const rows = appId === undefined ? [] : await listAccountsAt(db, scope, appId, page)
  const position = (account: AccountRow) => ({ time: account.last_signed_in_at, id: account.id })
  const { items, members } = page.answer(rows, position, accountDocument)
  return {
    ...members,
    limit: members.limit ?? LIMITS.page.default,
    accounts: items,
    app: row && (await withLimit(db, caller, row)),
  }
}

async function withLimit(db: Database, caller: Caller, row: AppRow): Promise<CatalogRow> {
  return { ...row, most: (await limitOf(db, row.id, caller.organization_id)) ?? row.owner_signup_limit }
}
