import type { MessageAuthentication } from '@restante/contracts'
import { readAuthor } from '@restante/mime'
import { isInfrastructureError, type Logger } from '@restante/service'
import type { Envelope, SmtpEnvelope } from '../inbound/envelope.ts'
import { isLoopback } from '../pipeline/loopback.ts'
import { domainOf } from './domains.ts'
import { judgedHeader, startOfBody } from './judged-header.ts'
import type { Question } from './protocol.ts'
import type { SenderJudge } from './sender-judge.ts'

/** What is known of the sender of a mail. */
export interface SenderVerdict {
  readonly authentication: MessageAuthentication
  /** The address that was judged; undefined where `From` names no single mailbox. */
  readonly author: string | undefined
  /** The sender's domain asks to refuse what fails, and nobody whom we trust vouches for it (mail 13). */
  readonly discard: boolean
  /** Domains for which SPF, or a signature that covers the mail, passed; whether the author's or not. */
  readonly passed: readonly string[]
  /** Questions to DNS that failed for the moment and stand between the mail and its verdict. */
  readonly unanswered: readonly Question[]
  /** Header lines, each with its line end: Received-SPF and Authentication-Results. */
  readonly trace: string
}

/** Whether a mail is authenticated as far as its labels go (mail 13). */
export function isAuthenticated({ authentication: { verdict } }: Pick<SenderVerdict, 'authentication'>): boolean {
  return verdict === 'pass' || verdict === 'internal'
}

export interface SenderAuthenticationOptions {
  /** Our name in Authentication-Results. */
  readonly hostname: string
  readonly judge: SenderJudge
  /** Mail from loopback counts as authenticated: the local stack only. */
  readonly trustLoopback: boolean
  /** Domains of forwarders whose ARC seal is believed. */
  readonly arcTrustedSealers: ReadonlySet<string>
  readonly log: Logger
}

/**
 * Judges the sender of a mail for the address that its mailbox will show. What cannot be judged is unauthenticated, not
 * lost.
 * @throws UpstreamError when no mail can be judged now, which says nothing about this one.
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
  const { verdict, discard, passed, unanswered, trace } = judgement
  return { authentication: { verdict, ...judgement.authentication }, author, discard, passed, unanswered, trace }
}

/** Mail is trusted for the author that it names: one that names none has nothing to trust. */
function trusted(author: string | undefined, hostname: string, result: string): SenderVerdict {
  const verdict = author === undefined ? 'none' : 'internal'
  return unjudged(verdict, author, `Authentication-Results: ${hostname}; ${result}\r\n`)
}

function unjudged(verdict: 'internal' | 'none', author: string | undefined, trace: string): SenderVerdict {
  const results = { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none' } as const
  const from = author !== undefined && { from_domain: domainOf(author) }
  return { authentication: { verdict, ...from, ...results }, author, discard: false, passed: [], unanswered: [], trace }
}
