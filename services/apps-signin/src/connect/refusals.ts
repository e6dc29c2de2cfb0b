import type { InternalResponseOf } from '@restante/contracts/internal'
import { ERROR_VARIANTS } from '@restante/contracts/vocabulary'
import { ApiError, invalid, notFound } from '@restante/service/errors'
import type { SignUpRefusal } from '../apps/sign-ups.ts'

type Minted = InternalResponseOf<'gateway.mintSignInKey'>

/** The sign-up limit of an app (apps 2, row 8). */
export function signUpRefused(refusal: SignUpRefusal): ApiError {
  const name = 'AppSignupLimitError'
  if (refusal === 'paused') {
    return new ApiError('limit_exceeded', {
      name,
      message: 'The app accepts no new sign-ups at present',
      fix: 'Sign in with an inbox that has an account at the app, or try again when the app accepts sign-ups again.',
    })
  }
  return new ApiError('limit_exceeded', {
    name,
    message: 'Your organization has as many inboxes at this app as the app allows',
    fix: 'Sign in with an inbox that has an account at the app. Disabled accounts and deleted inboxes count as well.',
  })
}

/** Why no key was created (apps 2, row 9). */
export function notMinted(minted: Exclude<Minted, { outcome: 'minted' }>): ApiError {
  if (minted.outcome === 'refused') {
    return minted.because === 'inbox' ? notFound('Inbox') : new ApiError('missing_permission', { fix: KEY_CHANGED })
  }
  const { by, retry_after: retryAfter } = minted
  if (by === 'keys_of_organization') {
    const fix = 'Delete API keys that are no longer used.'
    return new ApiError('limit_exceeded', { message: 'The organization has as many API keys as it may', fix })
  }
  return new ApiError('rate_limit_exceeded', { message: LIMITED[by], retryAfter })
}

const KEY_CHANGED = "The API key was deleted, or lost 'app_connect', while the request was running."
const LIMITED = {
  live_keys: 'This API key has as many sign-ins that wait for a browser as it may',
  key_per_hour: 'This API key has begun as many sign-ins within an hour as it may',
  organization_per_hour: 'The organization has begun as many sign-ins within an hour as it may',
} as const

/** The account is disabled, so that the sign-in would only end in `access_denied`. */
export function accountDisabled(): ApiError {
  return new ApiError('forbidden', {
    message: 'The account of this inbox at this app is disabled',
    fix: 'Enable the account with PATCH /v0/accounts/{account_id}/update and the status "enabled".',
  })
}

/** What is wrong with a token that names a sign-in (apps 3). */
export function authTokenRefused(message: string): ApiError {
  return invalid(['auth_token'], message)
}

/** The first request with the key is still running. */
export function keyInProgress(): ApiError {
  const { code, name, retry } = ERROR_VARIANTS.idempotency_key_in_progress
  return new ApiError(code, {
    name,
    retry,
    message: 'A request with this Idempotency-Key is still running',
    fix: 'Repeat the request in a moment; it will answer what the first one did.',
  })
}

/** The key was used for another request. */
export function keyReused(): ApiError {
  const { code, name, retry } = ERROR_VARIANTS.idempotency_key_reused
  return new ApiError(code, {
    name,
    retry,
    message: 'This Idempotency-Key was used for another request',
    fix: 'Use a new key for each sign-in; repeat a request with exactly the same content and API key.',
  })
}
