/** Where agents look for the sign-in to apps, at the root and below the prefix of the API (apps 6.1). */
export const SIGN_IN_PATHS: ReadonlySet<string> = new Set([
  '/.well-known/agentid-configuration',
  '/v0/.well-known/agentid-configuration',
])

export interface SignInPlace {
  /** The URLs of the API; the first one is named. */
  readonly publicUrls: readonly string[]
  /** The origin of the sign-in pages. Undefined: the installation has none. */
  readonly authBase: string | undefined
}

/** The document, whose braces are literal; undefined without sign-in pages. */
export function signInConfiguration({ publicUrls: [publicUrl = ''], authBase }: SignInPlace): string | undefined {
  if (authBase === undefined) return undefined
  const base = publicUrl.replace(/\/+$/, '')
  return JSON.stringify({
    issuer: authBase,
    authorize_endpoint: `${base}/v0/inboxes/{inbox_id}/authorize`,
    connect_endpoint: `${base}/v0/apps/{app_id}/connect`,
  })
}
