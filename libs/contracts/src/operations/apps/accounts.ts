import { z } from 'zod'
import { BASE, define, group, idParam } from '../../definition/define.ts'
import { account } from '../../resources/account.ts'
import { PAGE } from '../../resources/page.ts'
import { orderedPageQuery } from '../../schemas/query.ts'
import { apiKeyId } from '../../vocabulary/ids.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { TIERS } from '../../vocabulary/tiers.ts'

const ACCOUNTS = { service: 'apps-signin', prefixes: TIERS, tiers: TIERS } as const

const params = z.object({ account_id: idParam })

const UPDATE = {
  ...BASE,
  ...ACCOUNTS,
  prefixes: ['organization'],
  method: 'PATCH',
  permission: 'account_update',
  errors: ['race_condition', 'not_found'],
  params,
  body: z.strictObject({ status: z.enum(['enabled', 'disabled']) }),
  response: account,
} as const

/** Which inbox signed in at which app (apps 9), and the approval of a sign-in that waits (apps 3). */
export const accountOperations = group({
  'accounts.list': define({
    ...BASE,
    ...ACCOUNTS,
    id: 'accounts.list',
    method: 'GET',
    path: '/accounts',
    permission: 'inbox_read',
    summary: 'List accounts, the latest first sign-in first',
    query: z.object(orderedPageQuery),
    response: z.object({
      ...PAGE,
      limit: z.int().meta({ description: 'The limit applied.' }),
      accounts: z.array(account),
    }),
  }),
  'accounts.get': define({
    ...BASE,
    ...ACCOUNTS,
    id: 'accounts.get',
    method: 'GET',
    path: '/accounts/{account_id}',
    permission: 'inbox_read',
    summary: 'Get an account',
    params,
    response: account,
  }),
  'accounts.update': define({
    ...UPDATE,
    id: 'accounts.update',
    path: '/accounts/{account_id}/update',
    summary: 'Disable the sign-in of an inbox at an app, or enable it again',
  }),
  'accounts.patch': define({
    ...UPDATE,
    id: 'accounts.patch',
    path: '/accounts/{account_id}',
    summary: 'Other path of the update of an account',
  }),
  'apps.authorize': define({
    ...BASE,
    service: 'apps-signin',
    prefixes: ['inbox'],
    tiers: TIERS,
    id: 'apps.authorize',
    method: 'POST',
    path: '/authorize',
    permission: 'app_connect',
    alsoNeeds: ['app_share_owner'],
    summary: 'Let a sign-in that waits in a browser go on as this inbox',
    errors: ['limit_exceeded', 'forbidden', 'not_found'],
    body: z.object({
      auth_token: z.string().min(LIMITS.app.authToken.min).max(LIMITS.app.authToken.max),
      accept_disclosure: z.boolean().optional(),
    }),
    response: z.object({ api_key_id: apiKeyId, instructions: z.literal('Authorization complete. Return to browser.') }),
  }),
})
