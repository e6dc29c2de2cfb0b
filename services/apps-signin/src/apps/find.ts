import type { ClientAuthentication, SignInScope } from '@restante/contracts/vocabulary'
import { isUuid } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { canonicalUrl, isAtOrigin, matchesRedirectUri } from './redirect-uris.ts'
import { type AppRow, findByClientId } from './store.ts'

/** An app as the OpenID provider knows it. */
export interface Client {
  /** `open`: not registered, known by its URL (apps 5.2). */
  readonly kind: 'registered' | 'open'
  /** Of a registered app; an open client has none in transactions, codes and events. */
  readonly appId: string | undefined
  readonly clientId: string
  readonly name: string | undefined
  /** Where a sign-in returns to, as pages show it; of an open client the host of its URL. */
  readonly host: string | undefined
  readonly logoUrl: string | undefined
  readonly termsUrl: string | undefined
  readonly privacyUrl: string | undefined
  readonly redirectUris: readonly string[]
  readonly initiateLoginUri: string | undefined
  /** Scopes that it may ask for. */
  readonly scopes: readonly SignInScope[]
  readonly authentication: ClientAuthentication
  /** Markdown. */
  readonly disclosure: string | undefined
  readonly disclosureVersion: number
  /** Undefined: no limit. That of a single organization may differ. */
  readonly signUpLimit: number | undefined
}

/** `profile` is accepted from open clients and yields nothing. */
const OPEN_SCOPES: readonly SignInScope[] = ['openid', 'email', 'profile']

/**
 * The client of a client id; undefined when no app has it, or the app was removed. The case of a registered id counts,
 * because it is compared with the `aud` of tokens.
 * @param open whether clients without a registration may sign inboxes in (`OPEN_CLIENTS`).
 */
export async function findClient(
  on: Queryable,
  clientId: string,
  { open }: { readonly open: boolean },
): Promise<Client | undefined> {
  if (!isUuid(clientId)) return open ? openClient(clientId) : undefined
  const row = await findByClientId(on, clientId)
  return row && clientOf(row)
}

/** Whether a client may be answered at a redirect URI (apps 5, 5.2). */
export function allowsRedirect(client: Client, uri: string): boolean {
  return client.kind === 'open' ? isAtOrigin(client.clientId, uri) : matchesRedirectUri(client.redirectUris, uri)
}

/** A registered app in the form of the provider. */
export function clientOf(row: AppRow): Client {
  const returnsTo = row.initiate_login_uri ?? row.redirect_uris[0]
  return {
    kind: 'registered',
    appId: row.id,
    clientId: row.client_id,
    name: row.name ?? undefined,
    host: returnsTo === undefined ? undefined : URL.parse(returnsTo)?.host,
    logoUrl: row.logo_url ?? undefined,
    termsUrl: row.terms_url ?? undefined,
    privacyUrl: row.privacy_url ?? undefined,
    redirectUris: row.redirect_uris,
    initiateLoginUri: row.initiate_login_uri ?? undefined,
    scopes: row.scopes,
    authentication: row.token_endpoint_auth_method,
    disclosure: row.disclosure ?? undefined,
    disclosureVersion: row.disclosure_version,
    signUpLimit: row.owner_signup_limit ?? undefined,
  }
}

/** Nothing is fetched from the URL: it only names the origin that the sign-in returns to. */
function openClient(clientId: string): Client | undefined {
  const url = canonicalUrl(clientId)
  if (url?.protocol !== 'https:') return undefined
  return {
    kind: 'open',
    appId: undefined,
    clientId,
    name: undefined,
    host: url.host,
    logoUrl: undefined,
    termsUrl: undefined,
    privacyUrl: undefined,
    redirectUris: [],
    initiateLoginUri: undefined,
    scopes: OPEN_SCOPES,
    authentication: 'none',
    disclosure: undefined,
    disclosureVersion: 1,
    signUpLimit: undefined,
  }
}
