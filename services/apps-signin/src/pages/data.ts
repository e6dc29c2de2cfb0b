import type { SignInScope } from '@restante/contracts/vocabulary'

/** The app that asks. */
export interface AppShown {
  /** Its registered name; an open client has none. */
  readonly name: string | null
  /** Host of the redirect URI, to which the data goes. */
  readonly host: string
}

/** A sign-in that waits for a proof of an inbox (apps 7.1). */
export interface WaitingData {
  readonly app: AppShown
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly SignInScope[]
  /** The request id. */
  readonly jti: string
  readonly authToken: string
  readonly expiresAt: Date
  /** As it was sent; shown only if it looks like an address. */
  readonly loginHint: string | null
  /** With `prompt=none` the page asks nothing: without a key it declines by itself. */
  readonly promptNone: boolean
  /** Origin of these pages. */
  readonly authBase: string
  /** Origin and path under which `/v0/...` of the REST API is found. */
  readonly apiBase: string
}

/** What a magic link leads to (apps 7.2). */
export interface EnrollmentData {
  readonly app: AppShown
  readonly ticket: string
  /** The inbox that signs in. */
  readonly address: string
  /** Where the browser goes with its new key: `initiate_login_uri` with `iss` and `login_hint`. */
  readonly continueTo: string
}

/** The values that an app gets, by their claims (apps 6.2); those that are absent are not shared. */
export interface SharedValues {
  readonly sub?: string | undefined
  readonly email?: string | undefined
  readonly name?: string | undefined
  readonly preferred_username?: string | undefined
  readonly org?: string | undefined
  readonly owner_sub?: string | undefined
  readonly owner_name?: string | undefined
  readonly owner_email?: string | undefined
}

/** The question whether an app may have the values (apps 7.3). */
export interface ConsentData {
  readonly app: AppShown & { readonly termsUrl: string | null; readonly privacyUrl: string | null }
  readonly jti: string
  readonly address: string
  readonly values: SharedValues
  /** Whether the app asks for details of the owner as well, which only the owner can share. */
  readonly ownerIsAsked: boolean
  /** Markdown of the app. */
  readonly disclosure: string | null
  /** Names everything that the page shows; the answer returns it. */
  readonly shown: string
}

/** The same question to the human owner, about the owner's own values. */
export interface OwnerData {
  readonly app: AppShown & { readonly termsUrl: string | null; readonly privacyUrl: string | null }
  /** The token of the mailed link. */
  readonly token: string
  readonly address: string
  readonly values: Pick<SharedValues, 'owner_name' | 'owner_email'>
  readonly disclosure: string | null
  readonly expiresAt: Date
}

/** After the answer of the owner; also what the same link shows later. */
export interface OwnerDoneData {
  readonly app: AppShown
  readonly address: string
  readonly decision: 'allowed' | 'refused'
}

/** The browser of the sign-in, until the owner has answered. */
export interface OwnerWaitingData {
  readonly app: AppShown
  readonly jti: string
  readonly address: string
  readonly expiresAt: Date
}

/** Texts are plain: the page escapes them. */
export interface ErrorData {
  readonly status: number
  readonly title: string
  readonly text: string
}
