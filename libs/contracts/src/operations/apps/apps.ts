import { z } from 'zod'
import { BASE, define, group, idParam } from '../../definition/define.ts'
import { account } from '../../resources/account.ts'
import { app, provider } from '../../resources/app.ts'
import { PAGE } from '../../resources/page.ts'
import {
  capWhenFiltered,
  pageQuery,
  pageToken,
  queryInteger,
  searchPageQuery,
  searchText,
} from '../../schemas/query.ts'
import { instant } from '../../schemas/text.ts'
import { APP_CATEGORIES } from '../../vocabulary/apps.ts'
import { apiKeyId } from '../../vocabulary/ids.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { TIERS } from '../../vocabulary/tiers.ts'

const APPS = { service: 'apps-signin', prefixes: ['organization'], tiers: TIERS } as const

const params = z.object({ app_id: idParam.meta({ description: 'An app id, or the slug of an app of the catalog.' }) })

/** Without a category a limit above the maximum is served with it, with one it is refused. */
const catalogQuery = z
  .object({
    category: z.enum(APP_CATEGORIES).optional(),
    limit: queryInteger({ min: 1, max: LIMITS.page.max + 1 }).optional(),
    page_token: pageToken.optional(),
  })
  .superRefine((query, context) => capWhenFiltered(query, ['category'], context))
const searchQuery = z.object({ q: searchText(LIMITS.app.search), limit: searchPageQuery.limit })
const accountsQuery = z.object(pageQuery)

/** Lists of apps name the limit that was applied also where the request had none. */
const page = { ...PAGE, limit: z.int().meta({ description: 'The limit applied.' }) }

/** A token of the page after this one; a search has none. */
const { next_page_token: _, ...found } = page

const connectBody = z
  .object({
    inbox_id: z
      .string()
      .min(1)
      .max(LIMITS.event.filterId)
      .optional()
      .meta({ description: 'May be left out with a key bound to an inbox.' }),
    accept_disclosure: z.boolean().optional().meta({
      description: "Accepts the app's disclosure for the agent, so that its page is skipped. Default: false.",
    }),
  })
  .optional()

const signInLink = z
  .object({
    api_key_id: apiKeyId.meta({ description: 'The pending sign-in key; its status tells how far the sign-in is.' }),
    magic_url: z.string().meta({ description: 'Works once, for five minutes, in the client that holds the sign-in.' }),
    expires_at: instant,
  })
  .meta({ id: 'SignInLink' })

const LIST = { ...BASE, ...APPS, method: 'GET', permission: 'any' } as const
const ACCOUNTS = { ...BASE, ...APPS, method: 'GET', permission: 'inbox_read' } as const
const CONNECT = {
  ...BASE,
  ...APPS,
  method: 'POST',
  permission: 'app_connect',
  alsoNeeds: ['app_share_owner'],
  idempotencyKey: 'connect',
  status: 202,
  errors: ['limit_exceeded', 'conflict', 'forbidden', 'not_found'],
  body: connectBody,
  response: signInLink,
} as const

/** The catalog of apps, and the start of a sign-in (apps 1, 2). */
export const appOperations = group({
  'apps.list': define({
    ...LIST,
    id: 'apps.list',
    path: '/apps',
    summary: 'List the apps of the catalog, those with the most accounts first',
    query: catalogQuery,
    response: z.object({ ...page, apps: z.array(app) }),
  }),
  'apps.search': define({
    ...LIST,
    id: 'apps.search',
    path: '/apps/search',
    summary: 'Search the catalog by the beginning of a name, or of a word of it',
    query: searchQuery,
    response: z.object({ ...found, apps: z.array(app) }),
  }),
  'apps.get': define({
    ...LIST,
    id: 'apps.get',
    path: '/apps/{app_id}',
    summary: 'Get an app by its id, or by its slug',
    errors: ['not_found', 'validation_error'],
    params,
    response: app,
  }),
  'apps.listAccounts': define({
    ...ACCOUNTS,
    id: 'apps.listAccounts',
    path: '/apps/{app_id}/accounts',
    summary: 'List the accounts at an app, the latest sign-in first; an unknown app has none',
    params,
    query: accountsQuery,
    response: z.object({ ...page, accounts: z.array(account), app: app.optional() }),
  }),
  'apps.connect': define({
    ...CONNECT,
    id: 'apps.connect',
    path: '/apps/{app_id}/connect',
    summary: 'Begin to sign an inbox in to an app: create a link that works once',
    params,
  }),
})

/** The same operations under the names of older clients. */
export const providerOperations = group({
  'providers.list': define({
    ...LIST,
    id: 'providers.list',
    path: '/providers',
    summary: 'Older name of the list of apps',
    query: catalogQuery,
    response: z.object({ ...page, providers: z.array(provider) }),
  }),
  'providers.search': define({
    ...LIST,
    id: 'providers.search',
    path: '/providers/search',
    summary: 'Older name of the search for apps',
    query: searchQuery,
    response: z.object({ ...found, providers: z.array(provider) }),
  }),
  'providers.get': define({
    ...LIST,
    id: 'providers.get',
    path: '/providers/{app_id}',
    summary: 'Older name of getting an app',
    errors: ['not_found', 'validation_error'],
    params,
    response: provider,
  }),
  'providers.listAccounts': define({
    ...ACCOUNTS,
    id: 'providers.listAccounts',
    path: '/providers/{app_id}/accounts',
    summary: 'Older name of the accounts at an app',
    params,
    query: accountsQuery,
    response: z.object({ ...page, accounts: z.array(account), provider: provider.optional() }),
  }),
  'providers.connect': define({
    ...CONNECT,
    id: 'providers.connect',
    path: '/providers/{app_id}/connect',
    summary: 'Older name of the beginning of a sign-in',
    params,
  }),
})
