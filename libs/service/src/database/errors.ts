import { types } from 'node:util'

/**
 * An answer of another service, or of an engine, that says "not now": worth trying again, no fault of the input.
 * `status` is the HTTP status when there was an answer.
 */
export class UpstreamError extends Error {
  readonly status: number | undefined
  constructor(message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'UpstreamError'
    this.status = options.status
  }
}

/** The network, and the disk under the object store: full or broken for everyone, not for this work. */
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

/** SQLSTATE classes: 08 connection, 40 rollback (serialization, deadlock), 53 resources, 55P03 lock, 57 operator intervention, 58 system. */
const SQLSTATE = /^(08|40|53|57|58)[0-9A-Z]{3}$|^55P03$/

/** Prisma's own codes for "cannot reach", "timed out", "connection closed", "write conflict". */
const PRISMA_CODES = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037'])

const POOL_MESSAGES =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end|server closed the connection|Connection is closed/i

/** Errors of Node's own modules may come from another realm, where `instanceof` does not see them. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value)
}

/** S3 clients say whose fault it is, and name a timeout. */
function isServerFault(error: Error): boolean {
  return ('$fault' in error && error.$fault === 'server') || error.name === 'TimeoutError'
}

function codeOf(error: object): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/**
 * Whether a failure comes from the infrastructure (an engine or a peer that is down, slow, or restarting; a
 * serialization failure) and not from the work itself. Such work is tried again without limit; everything else is
 * deterministic and would fail the same way again.
 */
export function isInfrastructureError(error: unknown): boolean {
  if (!isError(error)) return false
  if (error instanceof UpstreamError || isServerFault(error)) return true
  const code = codeOf(error)
  if (code && (SYSTEM_CODES.has(code) || SQLSTATE.test(code) || PRISMA_CODES.has(code))) return true
  if (POOL_MESSAGES.test(error.message)) return true
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return error.errors.every(isInfrastructureError)
  }
  return error.cause !== undefined && isInfrastructureError(error.cause)
}

/** Whether a unique index refused a row, and which (PostgreSQL 23505, through `pg` or Prisma). */
export function uniqueViolation(error: unknown): string | undefined {
  if (!isError(error)) return undefined
  const code = codeOf(error)
  if (code === '23505') return 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : ''
  if (code === 'P2002') return 'meta' in error ? JSON.stringify(error.meta) : ''
  return undefined
}

/** Whether PostgreSQL gave the transaction up for a concurrent one, so that running it again is right. */
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
