import { AUTHORIZATION_MESSAGES, JWT_SHAPE } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'

const SCHEME = 'Bearer '

/**
 * Extracts the key from an `Authorization` header. The four possible faults are distinguished, in this order (identity
 * 1.6).
 * @throws ApiError 401
 */
export function bearerToken(header: string | undefined): string {
  if (header === undefined || header === '') throw missing('missing')
  // The HTTP parser strips trailing blanks, so an empty key arrives as the bare scheme.
  if (header === SCHEME.trimEnd()) throw missing('empty')
  if (!header.startsWith(SCHEME)) throw missing('scheme')
  const token = header.slice(SCHEME.length)
  if (token === '') throw missing('empty')
  if (/\s/.test(token)) throw missing('whitespace')
  if (JWT_SHAPE.test(token)) throw new ApiError('invalid_token_type')
  return token
}

function missing(which: keyof typeof AUTHORIZATION_MESSAGES): ApiError {
  return new ApiError('missing_authorization', { message: AUTHORIZATION_MESSAGES[which] })
}
