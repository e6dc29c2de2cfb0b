import {
  ERRORS,
  type ErrorCode,
  type ErrorDefinition,
  errorDocs,
  type FieldError,
} from '@restante/contracts/vocabulary'

export interface ApiErrorOptions {
  /** Public text; default: the code's own. */
  readonly message?: string
  /** What the caller can do next; omitted when no generic remedy applies. */
  readonly fix?: string
  readonly errors?: FieldError[]
  /** Whole seconds after which a retry makes sense; sent as `Retry-After`. */
  readonly retryAfter?: number
  /** Further public members, such as `resource` and `limit` of a limit error. */
  readonly details?: Readonly<Record<string, string | number>>
  /** Replaces the code's legacy `name` where a rule says so (`IdempotencyKeyConflictError`, `SyntaxError`). */
  readonly name?: string
  /** Replaces the code's advice on whether to retry the request, where a rule says so. */
  readonly retry?: boolean
  /** The internal cause: for the log only. */
  readonly cause?: unknown
}

/** An error response for the caller. Everything in it is public except `cause`. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  private readonly definition: ErrorDefinition
  readonly options: ApiErrorOptions

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    const definition: ErrorDefinition = ERRORS[code]
    super(options.message ?? options.errors?.[0]?.message ?? definition.message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.definition = definition
    this.status = definition.status
    this.options = options
  }

  /** The response document (identity 1.5). */
  body(docsUrl: string): Record<string, unknown> {
    const { fix = this.definition.fix, errors, details, name = this.definition.name } = this.options
    return {
      name,
      code: this.code,
      message: this.message,
      ...(fix === undefined ? {} : { fix }),
      ...(errors === undefined ? {} : { errors }),
      ...details,
      docs: errorDocs(docsUrl, this.code),
    }
  }

  /**
   * The headers that accompany it: `Retry-After` when a retry makes sense, and `x-should-retry` for clients that obey
   * it.
   */
  headers(): Record<string, string> {
    const { retryAfter, retry = this.definition.retry } = this.options
    return {
      ...(retry === undefined ? {} : { 'x-should-retry': String(retry) }),
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...(retryAfter !== undefined && this.status === 429
        ? { 'x-ratelimit-reset': String(epochSecondsIn(retryAfter)) }
        : {}),
    }
  }
}

/** For clients that read a point in time, in seconds since the epoch, instead of the time until then (identity 1.9). */
function epochSecondsIn(seconds: number): number {
  return Math.ceil(Date.now() / 1000) + seconds
}

/** A 400 that names one field. */
export function invalid(path: (string | number)[], message: string): ApiError {
  return new ApiError('validation_error', { message, errors: [{ path, message }] })
}

/** A 404 that names the missing kind of thing: `Inbox not found`. */
export function notFound(resource: string): ApiError {
  return new ApiError('not_found', { message: `${resource} not found` })
}
