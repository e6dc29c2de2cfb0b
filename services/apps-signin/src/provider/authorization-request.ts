import { LIMITS, OWNER_SCOPES, SIGN_IN_SCOPES, type SignInScope } from '@restante/contracts/vocabulary'
import type { Client } from '../apps/find.ts'
import { mayAsk } from '../codes/disclosure.ts'
import type { Parameters } from '../http/forms.ts'
import type { NewTransaction } from '../transactions/store.ts'

/** An error of RFC 6749 4.1.2.1 or OpenID Connect Core 3.1.2.6, for the app. */
export interface AuthorizationError {
  readonly error: string
  readonly description: string
}

const { state: MOST_STATE, nonce: MOST_NONCE } = LIMITS.app
/** Longest address (RFC 5321), and more than any that an inbox can have. */
const MOST_HINT = 320
const CHALLENGE = /^[\w-]{43}$/
/** RFC 6749 A.5. */
const VISIBLE = /^[\x20-\x7e]*$/
const CONTROLS = /[\p{Cc}\p{Cs}]/u

/** What an app may say about `state` in an answer: an unreadable one is not sent back. */
export function stateOf(parameters: Parameters): string | undefined {
  const state = parameters.get('state')
  return state !== undefined && state.length <= MOST_STATE && VISIBLE.test(state) ? state : undefined
}

/**
 * Checks a request whose client and redirect URI are right (apps 6.3).
 * @returns what the app asks for, or the first error.
 */
export function checkRequest(
  parameters: Parameters,
  { client, redirectUri }: { readonly client: Client; readonly redirectUri: string },
): NewTransaction | AuthorizationError {
  const scopes = scopesOf(parameters.get('scope') ?? '')
  const problem = formProblem(parameters) ?? valueProblem(parameters) ?? scopeProblem(scopes, client)
  if (problem !== undefined) return problem
  const prompt = parameters.get('prompt')
  return {
    appId: client.appId ?? null,
    clientId: client.clientId,
    redirectUri,
    scopes: scopes.filter((scope) => mayAsk(client, scope)),
    state: stateOf(parameters) ?? null,
    nonce: parameters.get('nonce') ?? null,
    codeChallenge: parameters.get('code_challenge') ?? '',
    loginHint: parameters.get('login_hint') ?? null,
    prompt: prompt === 'none' || prompt === 'consent' ? prompt : null,
  }
}

function formProblem(parameters: Parameters): AuthorizationError | undefined {
  const [repeated] = parameters.repeated
  if (repeated !== undefined) return invalid(`Send ${isPlain(repeated) ? repeated : 'each parameter'} once`)
  if (parameters.get('request') !== undefined) {
    return { error: 'request_not_supported', description: 'Send the parameters themselves, without a request object' }
  }
  if (parameters.get('request_uri') !== undefined) {
    return { error: 'request_uri_not_supported', description: 'Send the parameters themselves, without request_uri' }
  }
  const type = parameters.get('response_type')
  if (type === undefined) return invalid('Send response_type=code')
  if (type !== 'code') return { error: 'unsupported_response_type', description: 'The only response_type is code' }
  if ((parameters.get('response_mode') ?? 'query') !== 'query') return invalid('The only response_mode is query')
  return undefined
}

function valueProblem(parameters: Parameters): AuthorizationError | undefined {
  if (parameters.get('state') !== undefined && stateOf(parameters) === undefined) {
    return invalid(`state must be visible ASCII, at most ${MOST_STATE} characters`)
  }
  const nonce = parameters.get('nonce') ?? ''
  if (nonce.length > MOST_NONCE || CONTROLS.test(nonce)) return invalid(`nonce has at most ${MOST_NONCE} characters`)
  if (parameters.get('code_challenge_method') !== 'S256') return invalid('Send code_challenge_method=S256 (RFC 7636)')
  if (!CHALLENGE.test(parameters.get('code_challenge') ?? '')) {
    return invalid('code_challenge must be the SHA-256 of the verifier in base64url: 43 characters')
  }
  if (!['none', 'consent', undefined].includes(parameters.get('prompt'))) return invalid('prompt is none or consent')
  const hint = parameters.get('login_hint') ?? ''
  return hint.length > MOST_HINT || CONTROLS.test(hint)
    ? invalid('login_hint must be the address of an inbox')
    : undefined
}

/** The known scopes of a request, each once. Unknown ones are ignored. */
function scopesOf(text: string): readonly SignInScope[] {
  const requested = new Set(text.split(' '))
  return SIGN_IN_SCOPES.filter((scope) => requested.has(scope))
}

function scopeProblem(scopes: readonly SignInScope[], client: Client): AuthorizationError | undefined {
  if (!scopes.includes('openid')) return { error: 'invalid_scope', description: 'scope must contain openid' }
  const refused = OWNER_SCOPES.find((scope) => scopes.includes(scope) && !mayAsk(client, scope))
  if (refused === undefined) return undefined
  return { error: 'invalid_scope', description: `This client may not ask for ${refused}` }
}

function invalid(description: string): AuthorizationError {
  return { error: 'invalid_request', description }
}

/** Whether a text can be repeated in `error_description` (RFC 6749 4.1.2.1). */
function isPlain(text: string): boolean {
  return /^[\w-]{1,40}$/.test(text)
}
