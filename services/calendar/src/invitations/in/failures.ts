import { ParserUnavailableError } from '@restante/mime/worker'
import { backoff } from '@restante/service/concurrency'
import { ApiError, codeOf, isError, isInfrastructureError } from '@restante/service/errors'
import { UpstreamRejectedError } from '@restante/service/http'

const RETRY = { firstMs: 500, longestMs: 60_000 }
/** A quarter of an hour of errors that are not known to pass. */
const MOST_FAILURES = 20
/** Answers that say nothing about the file: the next attempt may find another. */
const PASSING = ['event_starting', 'unknown_api_key']

/** Whether an error says that a file is about what no event can be. */
export function isOfFile(error: unknown): boolean {
  if (isPassing(error)) return false
  return (error instanceof ApiError && error.status < 500) || isDataError(error)
}

/** When a failed attempt at a file is repeated, or null to give the file up. */
export function nextAttempt(attempt: number, error: unknown): Date | null {
  if (attempt >= MOST_FAILURES && !isPassing(error)) return null
  return new Date(Date.now() + backoff(attempt, RETRY))
}

function isPassing(error: unknown): boolean {
  if (error instanceof ApiError && PASSING.includes(error.code)) return true
  // Other services are asked about a mail and an inbox, never about a file: they are of another release, or wrongly configured.
  if (error instanceof UpstreamRejectedError) return true
  return error instanceof ParserUnavailableError || isInfrastructureError(error)
}

/** Whether PostgreSQL can store a value under no circumstances: SQLSTATE class 22. */
function isDataError(error: unknown): boolean {
  if (!isError(error)) return false
  return /^22[0-9A-Z]{3}$/.test(codeOf(error) ?? '') || isDataError(error.cause)
}
