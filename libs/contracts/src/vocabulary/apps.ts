/** What an app can be filed under in the catalog, at most three of them. */
export const APP_CATEGORIES = [
  ...(['ai', 'search', 'scraping', 'browser', 'data', 'developer-tools', 'communication', 'productivity'] as const),
  ...(['payments', 'finance', 'commerce', 'marketing', 'analytics', 'security', 'infrastructure', 'other'] as const),
] as const
export type AppCategory = (typeof APP_CATEGORIES)[number]

/** Scopes of the OpenID provider (apps 6.2). */
export const SIGN_IN_SCOPES = ['openid', 'email', 'profile', 'owner_profile', 'owner_email'] as const
export type SignInScope = (typeof SIGN_IN_SCOPES)[number]

/** Scopes that release facts about the human owner. */
export const OWNER_SCOPES = ['owner_profile', 'owner_email'] as const satisfies readonly SignInScope[]

/** How a registered app authenticates at the token endpoint (apps 5). */
export const CLIENT_AUTHENTICATIONS = ['client_secret_basic', 'client_secret_post', 'none'] as const
export type ClientAuthentication = (typeof CLIENT_AUTHENTICATIONS)[number]
