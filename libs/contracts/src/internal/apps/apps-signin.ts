import { z } from 'zod'
import { isHttpUrl, line, prose } from '../../schemas/text.ts'
import { APP_CATEGORIES, CLIENT_AUTHENTICATIONS, SIGN_IN_SCOPES } from '../../vocabulary/apps.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

const FROM_OPERATOR = { ...INTERNAL, callers: ['gateway'], service: 'apps-signin' } as const
const app_id = z.guid()
const operator = z.string().min(1).meta({ description: 'Who asked for it, for the log.' })
const at = z.iso.datetime()
const signUpLimit = z.int().min(0).max(1_000_000_000)

const url = z.string().max(LIMITS.app.url).refine(isHttpUrl, { error: 'Must be an absolute http or https URL' })
const httpsUrl = z
  .string()
  .max(LIMITS.app.url)
  .refine((text) => URL.parse(text)?.protocol === 'https:', { error: 'Must be an absolute https URL' })

/** What the operator registers of an app (apps 5). Whether the URIs of its sign-in fit is decided by the owner. */
export const appSettings = z.strictObject({
  name: line({ min: 1, max: LIMITS.name.max }),
  description: prose().max(LIMITS.app.description).nullable(),
  logo_url: httpsUrl.nullable(),
  terms_url: httpsUrl.nullable(),
  privacy_url: httpsUrl.nullable(),
  categories: z.array(z.enum(APP_CATEGORIES)).max(LIMITS.app.categories),
  slug: z
    .string()
    .max(LIMITS.app.slug)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, { error: 'Must be words of a-z and 0-9 joined by single hyphens' })
    .nullable(),
  listed: z.boolean(),
  native: z.boolean().meta({
    description:
      'Its redirect URIs and `initiate_login_uri` may be http on loopback, the former on any port (RFC 8252).',
  }),
  redirect_uris: z.array(url).max(LIMITS.app.redirectUris),
  initiate_login_uri: url.nullable(),
  scopes: z.array(z.enum(SIGN_IN_SCOPES)).max(SIGN_IN_SCOPES.length),
  token_endpoint_auth_method: z.enum(CLIENT_AUTHENTICATIONS),
  owner_signup_limit: signUpLimit.nullable(),
  disclosure: prose().max(LIMITS.app.disclosure).nullable(),
  disclosure_version: z.int().min(1).max(1_000_000_000),
})
export type AppSettings = z.infer<typeof appSettings>

/** An app as the operator sees it; never a secret. */
const registeredApp = appSettings.extend({
  app_id,
  client_id: z.string(),
  secrets: z.array(z.object({ secret_id: z.guid(), created_at: at })).meta({ description: 'At most two.' }),
  accounts: z.int().min(0),
  created_at: at,
  updated_at: at,
})
export type RegisteredApp = z.infer<typeof registeredApp>

/** Why a registration was refused: at which setting, and what to do. */
const refusal = z.object({ setting: z.string(), message: z.string() })

const changed = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('done'), app: registeredApp, client_secret: z.string().optional() }),
  z.object({ outcome: z.literal('refused'), refusals: z.array(refusal).min(1) }),
  z.object({ outcome: z.literal('unknown') }),
])

/** The operator registers apps (apps 5); nothing public does. */
export const appsSigninInternalOperations = internalGroup({
  'apps-signin.createApp': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.createApp',
    path: '/internal/apps/create',
    summary: 'Register an app; its secret is in this answer only. Repeating the call with its id has one effect',
    body: z.object({ app_id, settings: appSettings, operator }),
    response: changed,
  }),
  'apps-signin.listApps': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.listApps',
    path: '/internal/apps/list',
    summary: 'Page through the registered apps by name',
    body: z.object({
      after: z.object({ name: z.string(), app_id }).optional(),
      limit: z.int().min(1).max(1_000),
    }),
    response: z.object({ apps: z.array(registeredApp) }),
  }),
  'apps-signin.getApp': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.getApp',
    path: '/internal/apps/get',
    summary: 'Get a registered app by id or slug; without `app` it is unknown',
    body: z.object({ app: z.string().min(1) }),
    response: z.object({ app: registeredApp.optional() }),
  }),
  'apps-signin.updateApp': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.updateApp',
    path: '/internal/apps/update',
    summary: 'Change settings of an app; those that are absent stay',
    body: z.object({ app_id, settings: appSettings.partial(), operator }),
    response: changed,
  }),
  'apps-signin.addSecret': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.addSecret',
    path: '/internal/apps/add-secret',
    summary: 'Give an app another secret, so that two are valid; the older of two goes',
    body: z.object({ app_id, operator }),
    response: changed,
  }),
  'apps-signin.removeSecret': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.removeSecret',
    path: '/internal/apps/remove-secret',
    summary: 'End a secret of an app',
    body: z.object({ app_id, secret_id: z.guid(), operator }),
    response: changed,
  }),
  'apps-signin.removeApp': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.removeApp',
    path: '/internal/apps/remove',
    summary: 'Remove an app: nothing signs in to it any more, its accounts stay readable',
    body: z.object({ app_id, operator }),
    response: z.object({ removed: z.boolean() }),
  }),
  'apps-signin.setSignUpLimit': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.setSignUpLimit',
    path: '/internal/apps/set-limit',
    summary: "Set the most accounts of one organization at an app, in place of the app's; null goes back to it",
    body: z.object({ app_id, organization_id: z.guid(), limit: signUpLimit.nullable(), operator }),
    response: z.object({ found: z.boolean() }),
  }),
  'apps-signin.listSignUpLimits': defineInternal({
    ...FROM_OPERATOR,
    id: 'apps-signin.listSignUpLimits',
    path: '/internal/apps/list-limits',
    summary: 'List the limits of single organizations at an app, with what they have used',
    body: z.object({ app_id, after: z.guid().optional(), limit: z.int().min(1).max(1_000) }),
    response: z.object({
      limits: z.array(z.object({ organization_id: z.guid(), limit: z.int().min(0), used: z.int().min(0) })),
    }),
  }),
})
