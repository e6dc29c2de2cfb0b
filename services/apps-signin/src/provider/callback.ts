import type { Transaction } from '../transactions/store.ts'

interface Returned {
  readonly redirectUri: string
  readonly state: string | null | undefined
  readonly issuer: string
}

/**
 * Where a browser goes with an answer to the app. `iss` says which provider answers, so that an app with several cannot be
 * made to send a code to another one (RFC 9207). The registered URI stays as it is, byte by byte, with its own query.
 */
export function callback({ redirectUri, state, issuer }: Returned, answer: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({ ...answer, ...(state != null && { state }), iss: issuer })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}

/** The same for a sign-in that has ended without a code. */
export function errorCallback(transaction: Transaction, issuer: string): string {
  const { redirect_uri: redirectUri, state, outcome, reason } = transaction
  const error = outcome ?? 'server_error'
  return callback({ redirectUri, state, issuer }, { error, ...(reason !== null && { error_description: reason }) })
}

/** Where a browser goes when something was decided. */
export function continueAt(issuer: string, jti: string): string {
  return `${issuer}/v0/authorize/continue?jti=${jti}`
}
