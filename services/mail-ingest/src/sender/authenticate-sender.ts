import type { MessageAuthentication } from '@restante/contracts/resources'
import { readAuthor } from '@restante/mime'
import { isLoopback } from '@restante/service/connections'
import { isInfrastructureError } from '@restante/service/errors'
import type { Logger } from '@restante/service/telemetry'
import type { Envelope, SmtpEnvelope } from '../inbound/envelope.ts'
import type { Question } from './dns/question.ts'
import { judgedHeader, startOfBody } from './judged-header.ts'
import { domainOf } from './judgement/domains.ts'
import type { SenderJudge } from './sender-judge.ts'

/** The authentication result of a mail's sender. */
export interface SenderVerdict {
  readonly authentication: MessageAuthentication
  /** The authenticated address; undefined where `From` does not name exactly one mailbox. */
  readonly author: string | undefined
  /** The sender's domain requests rejection of failing mail, and no trusted forwarder vouches for it (mail 13). */
  readonly discard: boolean
  /** Domains for which SPF, or a signature that covers the mail, passed: that of the author, or others. */
  readonly passed: readonly string[]
  /** Those for which one of these could not be determined, because DNS failed temporarily. */
  readonly undecided: readonly string[]
  /** DNS queries that failed temporarily and on which the verdict depends. */
  readonly unanswered: readonly Question[]
  /** Header lines, each with its line end: Received-SPF and Authentication-Results. */
  readonly trace: string
}

/** Whether a mail counts as authenticated for its labels (mail 13). */
export function isAuthenticated({ authentication: { verdict } }: Pick<SenderVerdict, 'authentication'>): boolean {
  return verdict === 'pass' || verdict === 'internal'
}

export interface SenderAuthenticationOptions {
  /** This server's name in Authentication-Results. */
  readonly hostname: string
  readonly judge: SenderJudge
  /** Mail from loopback counts as authenticated: for the local stack only. */
  readonly trustLoopback: boolean
  /** Domains of forwarders whose ARC seal is trusted. */
  readonly arcTrustedSealers: ReadonlySet<string>
  readonly log: Logger
}

/**
 * Authenticates the sender of a mail for the address that its mailbox will show. A mail that cannot be examined is
 * unauthenticated, not lost.
 * @throws UpstreamError when no sender can be authenticated now, which says nothing about this mail.
 */
export async function authenticateSender(
  raw: Buffer,
  envelope: Envelope,
  options: SenderAuthenticationOptions,
): Promise<SenderVerdict> {
  const { hostname } = options
  const bodyStart = startOfBody(raw)
  const header = raw.subarray(0, bodyStart)
  const { address: author } = readAuthor(raw)
  if (envelope.via === 'internal') return trusted(author, hostname, 'x-internal=pass (handed over inside)')
  if (options.trustLoopback && isLoopback(envelope.peer)) {
    const result = `x-loopback=pass (SENDER_AUTH=trust-loopback) policy.peer=${envelope.peer}`
    return trusted(author, hostname, result)
  }
  try {
    return await judge(header, raw.subarray(bodyStart), author, envelope, options)
  } catch (error) {
    if (isInfrastructureError(error)) throw error
    options.log.warn({ err: error }, 'sender authentication failed, mail is unauthenticated')
    return unjudged('none', author, `Authentication-Results: ${hostname}; none\r\n`)
  }
}

async function judge(
  header: Buffer,
  body: Buffer,
  author: string | undefined,
  envelope: SmtpEnvelope,
  { hostname, arcTrustedSealers, judge }: SenderAuthenticationOptions,
): Promise<SenderVerdict> {
  const { text, repeatsField, signed } = judgedHeader(header)
  const { peer, helo, mail_from: mailFrom } = envelope
  const mail = { author, header: text, repeatsField, signed, peer, helo, mailFrom, hostname }
  const judgement = await judge.judge({ ...mail, arcTrustedSealers: [...arcTrustedSealers] }, body)
  const { verdict, discard, passed, undecided, unanswered, trace } = judgement
  const authentication = { verdict, ...judgement.authentication }
  return { authentication, author, discard, passed, undecided, unanswered, trace }
}

/** Mail is trusted for the author that it names: without one there is nothing to trust. */
function trusted(author: string | undefined, hostname: string, result: string): SenderVerdict {
  const verdict = author === undefined ? 'none' : 'internal'
  return unjudged(verdict, author, `Authentication-Results: ${hostname}; ${result}\r\n`)
}

function unjudged(verdict: 'internal' | 'none', author: string | undefined, trace: string): SenderVerdict {
  const results = { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none' } as const
  const from = author !== undefined && { from_domain: domainOf(author) }
  const authentication = { verdict, ...from, ...results }
  return { authentication, author, discard: false, passed: [], undecided: [], unanswered: [], trace }
}
