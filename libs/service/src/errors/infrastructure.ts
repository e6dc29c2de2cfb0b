import { codeOf, isError, sqlStateOf } from './error-codes.ts'

/**
 * A response of another service, or of an engine, that means "not now": worth retrying, and not caused by the input.
 * `status` is the HTTP status when there was a response.
 */
export class UpstreamError extends Error {
  readonly status: number | undefined
  constructor(message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'UpstreamError'
    this.status = options.status
  }
}

/** The network, and the disk under the object store: a failure for all work, not for one request. */
const SYSTEM_CODES = new Set([
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOSPC',
  'EROFS',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
])

/**
 * SQLSTATE classes: 08 connection, 40 rollback (serialization, deadlock), 53 resources, 57 operator intervention, 58
 * system; 25P03 and 25P04: transaction timeout, 55P03: lock timeout.
 */
const SQLSTATE = /^(08|40|53|57|58)[0-9A-Z]{3}$|^25P0[34]$|^55P03$/

/** Prisma's own codes for "cannot reach", "timed out", "connection closed", "write conflict". */
const PRISMA_CODES = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037'])

/** What `pg` reports where it has no code. */
const POOL_MESSAGES =
  /Query read timeout|timeout exceeded when trying to connect|^timeout expired$|Connection terminated|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|server closed the connection|Connection is closed/i

/** Errors of S3 clients have a field for the side at fault, client or server; timeouts are recognized by their name. */
function isServerFault(error: Error): boolean {
  return ('$fault' in error && error.$fault === 'server') || error.name === 'TimeoutError'
}

/**
 * Whether PostgreSQL refused a prepared statement because a migration has changed its columns since it was prepared. The
 * statement had no effect, and succeeds on a new connection.
 */
export function isStalePlan(error: unknown): boolean {
  if (!isError(error)) return false
  const isRefusal = codeOf(error) === '0A000' || sqlStateOf(error) === '0A000'
  if (isRefusal && error.message.includes('cached plan must not change result type')) return true
  return error.cause !== undefined && isStalePlan(error.cause)
}

function isOutage(code: string | undefined): boolean {
  return code !== undefined && (SYSTEM_CODES.has(code) || SQLSTATE.test(code) || PRISMA_CODES.has(code))
}

/**
 * Whether a failure comes from the infrastructure (an engine or another service that is down, slow, or restarting; a
 * serialization failure) and not from the work itself. Such work is retried without limit; any other failure is
 * deterministic and would recur.
 */
export function isInfrastructureError(error: unknown): boolean {
  if (!isError(error)) return false
  if (error instanceof UpstreamError || isServerFault(error)) return true
  if (isOutage(codeOf(error)) || isOutage(sqlStateOf(error))) return true
  if (POOL_MESSAGES.test(error.message) || isStalePlan(error)) return true
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return error.errors.every(isInfrastructureError)
  }
  return error.cause !== undefined && isInfrastructureError(error.cause)
}

/** A serialization failure, a deadlock, or Prisma's code for either. */
const CONFLICTS = new Set(['40001', '40P01', 'P2034'])

/**
 * Whether PostgreSQL has certainly rolled a transaction back because of another one. It is an infrastructure error that
 * says nothing about the next transaction.
 */
export function isConflictError(error: unknown): boolean {
  if (!isError(error)) return false
  const codes = [codeOf(error), sqlStateOf(error)]
  if (codes.some((code) => code !== undefined && CONFLICTS.has(code))) return true
  return error.cause !== undefined && isConflictError(error.cause)
}
