import { randomBytes } from 'node:crypto'
import { cookieNameOf } from '../../src/transactions/cookie-values.ts'
import { createTransaction, type NewTransaction, type Transaction } from '../../src/transactions/store.ts'
import { Browser } from './browser.ts'
import type { AppsSigninFixture, TestApp } from './fixture.ts'

/** A sign-in that an app has begun in a browser. */
export interface Waiting {
  readonly transaction: Transaction
  /** The browser that holds its cookie. */
  readonly browser: Browser
}

/** Begins a sign-in as `/v0/authorize` does. */
export async function beginSignIn(
  { db, authBase }: Pick<AppsSigninFixture, 'db' | 'authBase'>,
  app: Pick<TestApp, 'app_id' | 'client_id' | 'redirect_uris'>,
  overrides: Partial<NewTransaction> = {},
): Promise<Waiting> {
  const { transaction, cookie } = await createTransaction(db, {
    appId: app.app_id,
    clientId: app.client_id,
    redirectUri: app.redirect_uris[0] ?? '',
    scopes: ['openid', 'email'],
    state: null,
    nonce: null,
    codeChallenge: randomBytes(32).toString('base64url'),
    loginHint: null,
    prompt: null,
    ...overrides,
  })
  const browser = new Browser(authBase)
  browser.cookies.set(cookieNameOf(transaction.jti), cookie.value)
  return { transaction, browser }
}
