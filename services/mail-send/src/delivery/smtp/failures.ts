import { messageOf } from '@restante/service/errors'
import { deferredBy, type Outcome } from '../outcome/outcome.ts'
import type { RemoteHost } from './connection.ts'

/** The session ended before any recipient was decided. */
export class SessionFailedError extends Error {
  override readonly name = 'SessionFailedError'
  readonly outcome: Outcome
  /** TLS was offered but failed: the same host is worth a second try without it. */
  readonly tls: boolean
  constructor(outcome: Outcome, options: { tls: boolean; cause: unknown }) {
    super(outcome.verdict.text, { cause: options.cause })
    this.outcome = outcome
    this.tls = options.tls
  }
}

export interface SmtpError {
  readonly code: string | undefined
  readonly response: string | undefined
  readonly command: string | undefined
}

/** Reads nodemailer's description of a failure. */
export function smtpError(error: unknown): SmtpError {
  const member = (name: string): string | undefined => {
    const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
    return typeof value === 'string' ? value : undefined
  }
  return { code: member('code'), response: member('response'), command: member('command') }
}

/** Whether a failure ends the session: no reply, or a 421 to MAIL (RFC 5321 3.8). */
export function endsSession(error: unknown): boolean {
  const { code, response, command } = smtpError(error)
  if (response === undefined) return code !== 'EMESSAGE'
  return response.startsWith('421') && command === 'MAIL FROM'
}

/**
 * Before the first MAIL even a 5xx (for example in the greeting) concerns this host at this time, not a recipient:
 * other hosts are tried, then later times.
 */
export function sessionFailure(error: unknown, remote: RemoteHost, upgrading: boolean): SessionFailedError {
  const { code, response } = smtpError(error)
  const tls = upgrading || code === 'ETLS'
  const text = response === undefined ? `No session: ${messageOf(error)}` : `Refused the session: ${response}`
  const status = tls ? '4.7.5' : code === 'ETIMEDOUT' ? '4.4.1' : '4.4.2'
  const mta = response === undefined ? undefined : remote.name
  return new SessionFailedError(deferredBy(status, text, mta), { tls, cause: error })
}
