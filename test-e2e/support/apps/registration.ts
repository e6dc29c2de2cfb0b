import { randomUUID } from 'node:crypto'
import type { AppSettings } from '@restante/contracts/internal'
import { ServiceClient } from '@restante/service/http'

/** An app as its developer configures it. */
export interface RegisteredApp {
  readonly appId: string
  readonly clientSecret: string
}

const PLAIN: AppSettings = {
  name: 'Example Research',
  description: null,
  logo_url: null,
  terms_url: 'https://app.example/terms',
  privacy_url: 'https://app.example/privacy',
  categories: [],
  slug: null,
  listed: false,
  native: true,
  redirect_uris: [],
  initiate_login_uri: null,
  scopes: ['openid', 'email', 'profile', 'owner_profile', 'owner_email'],
  token_endpoint_auth_method: 'client_secret_basic',
  owner_signup_limit: null,
  disclosure: null,
  disclosure_version: 1,
}

/**
 * Registers an app as the operator does.
 * @param operator environment of the gateway. @param settings in place of those of a plain app.
 */
export async function registerApp(
  operator: Readonly<Record<string, string | undefined>>,
  settings: Partial<AppSettings>,
): Promise<RegisteredApp> {
  const { APPS_SIGNIN_URL: url = '', PEER_KEY_APPS_SIGNIN: key = '' } = operator
  const client = new ServiceClient({ from: 'gateway', to: 'apps-signin', url, key })
  const appId = randomUUID()
  try {
    const request = { app_id: appId, settings: { ...PLAIN, ...settings }, operator: 'tests' }
    const created = await client.call('apps-signin.createApp', request)
    if (created.outcome === 'done') return { appId, clientSecret: created.client_secret ?? '' }
    throw new Error(`the app was not registered: ${JSON.stringify(created)}`)
  } finally {
    await client.stop()
  }
}
