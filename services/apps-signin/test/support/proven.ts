import type { SignInCredential } from '@restante/contracts/internal'
import { approve } from '../../src/transactions/steps.ts'
import type { NewTransaction } from '../../src/transactions/store.ts'
import type { Seen } from './browser.ts'
import type { AppsSigninFixture, TestApp } from './fixture.ts'
import { makeTenant, type Tenant, type TestInbox } from './tenant.ts'
import { beginSignIn, type Waiting } from './waiting.ts'

/** A sign-in whose inbox a key has proven. */
export interface ProvenSignIn extends Waiting {
  readonly jti: string
  readonly app: TestApp
  readonly tenant: Tenant
  readonly inbox: TestInbox
  /** Where the browser goes on. */
  goOn(): Promise<Seen>
  /** The answer of the person at the browser to the page that `goOn` has shown. */
  answer(page: Seen, allow: boolean): Promise<Seen>
}

export interface ProvenOptions {
  readonly app: TestApp
  readonly tenant?: Tenant
  readonly inbox?: TestInbox
  readonly begun?: Partial<NewTransaction>
  readonly key?: Partial<SignInCredential>
}

/** Begins a sign-in and proves its inbox by a key. */
export async function proveSignIn(fixture: AppsSigninFixture, options: ProvenOptions): Promise<ProvenSignIn> {
  const { app, tenant = makeTenant(fixture), begun = {}, key = {} } = options
  const inbox = options.inbox ?? tenant.inbox()
  const jwk = { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) } as const
  const { api_key_id: apiKeyId } = tenant.key(inbox, { jwk, ...key })
  const waiting = await beginSignIn(fixture, app, begun)
  const { browser, transaction } = waiting
  const { jti } = transaction
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, address } = inbox
  const placed = { organizationId, podId, inboxUid, address }
  await fixture.db.transaction((tx) => approve(tx, { jti, ...placed, apiKeyId, by: 'sign_in' }))
  return {
    ...waiting,
    jti,
    app,
    tenant,
    inbox,
    goOn: () => browser.get(`/v0/authorize/continue?jti=${jti}`),
    answer: (page, allow) => browser.call('/v0/authorize/consent', { jti, allow, shown: shownOn(page) }),
  }
}

/** What a consent page shows, as its script names it. */
export function shownOn({ text }: Pick<Seen, 'text'>): string {
  return /data-shown="([\w-]+)"/.exec(text)?.[1] ?? ''
}

/** The parameters with which a browser comes back to the app. */
export function returned({ headers }: Pick<Seen, 'headers'>): Readonly<Record<string, string>> {
  const location = headers.get('location')
  return location === null ? {} : Object.fromEntries(new URL(location).searchParams)
}
