import { codeOf, isError, sqlStateOf } from '../errors/error-codes.ts'

/** What `pg` reports, without a code, when a statement gets no answer. */
const UNANSWERED = /Query read timeout/

/** Whether a statement was abandoned because no answer came: its connection can no longer be used. */
export function isUnanswered(error: unknown): boolean {
  return isError(error) && (UNANSWERED.test(error.message) || isUnanswered(error.cause))
}

/**
 * Whether a statement was cancelled because it took too long. This alone does not show whether the statement or the
 * whole database was slow.
 */
export function isStatementTimeout(error: unknown): boolean {
  if (!isError(error)) return false
  if (codeOf(error) === '57014' || sqlStateOf(error) === '57014' || UNANSWERED.test(error.message)) return true
  return isStatementTimeout(error.cause)
}

const LOCK_NOT_AVAILABLE = '55P03'

/** Whether a statement was cancelled because a lock that it waited for was held too long. */
export function isLockTimeout(error: unknown): boolean {
  if (!isError(error)) return false
  if (codeOf(error) === LOCK_NOT_AVAILABLE || sqlStateOf(error) === LOCK_NOT_AVAILABLE) return true
  return isLockTimeout(error.cause)
}

/** The unique index that refused a row, or undefined (PostgreSQL 23505, through `pg` or Prisma). */
export function uniqueViolation(error: unknown): string | undefined {
  if (!isError(error)) return undefined
  const code = codeOf(error)
  if (code === '23505') return 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : ''
  if (code === 'P2002') return 'meta' in error ? JSON.stringify(error.meta) : ''
  return undefined
}

/** Whether PostgreSQL refused a statement because an earlier one of its transaction had failed. */
export function isTransactionAborted(error: unknown): boolean {
  return isError(error) && codeOf(error) === '25P02'
}

/** Whether PostgreSQL rolled the transaction back in favour of a concurrent one, so that retrying it is right. */
export function isSerializationFailure(error: unknown): boolean {
  if (!isError(error)) return false
  const code = codeOf(error)
  return (
    code === '40001' ||
    code === '40P01' ||
    code === 'P2034' ||
    (error.cause !== undefined && isSerializationFailure(error.cause))
  )
}
