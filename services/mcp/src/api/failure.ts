import { ApiError } from '@restante/service/errors'

/** A request to the API that was refused, with the document of the refusal (identity 1.5). */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body['message'] === 'string' ? body['message'] : `The API answered ${status}`)
    this.status = status
    this.body = body
  }
}

/** A wait that failed on its way, in a manner that a repetition may overcome: `cause` is the failure. */
export class InterruptedWaitError extends Error {
  override readonly name = 'InterruptedWaitError'
  /** Where to go on: what comes after it was neither looked through nor given to the caller. */
  readonly cursor: string

  constructor(cursor: string, cause: unknown) {
    super('the wait was interrupted', { cause })
    this.cursor = cursor
  }
}

/** Whether a request would be refused again. A limit passes, as an outage does. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiFailure || error instanceof ApiError)) return false
  return error.status < 500 && error.status !== 429
}
