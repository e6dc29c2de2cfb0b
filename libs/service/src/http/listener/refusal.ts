import { ApiError } from '../../errors/api-error.ts'
import { isInfrastructureError } from '../../errors/infrastructure.ts'
import { RawHttpError } from '../framing/raw-http-error.ts'

/** What the caller gets to read of an error. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** Absent for errors in the form of the infrastructure. */
  readonly code?: string
}

/** Maps an error to its response. 5xx never carries internals: a broken dependency is 503, anything unforeseen 500. */
export function refusalOf(error: unknown, docsUrl: string): Refusal {
  if (error instanceof RawHttpError) {
    return { status: error.status, headers: {}, body: { message: error.message } }
  }
  const refusal = asApiError(error)
  return { status: refusal.status, code: refusal.code, headers: refusal.headers(), body: refusal.body(docsUrl) }
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (isInfrastructureError(error)) return new ApiError('service_unavailable', { retryAfter: 1, cause: error })
  return new ApiError('internal_error', { cause: error })
}
