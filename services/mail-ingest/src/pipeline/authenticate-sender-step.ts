import { LIMITS } from '@restante/contracts'
import { bareAddress } from '@restante/mime'
import type { Logger } from '@restante/service'
import { type ARCResult, type AuthenticateResult, authenticate } from 'mailauth'
import { getDomain } from 'tldts'
import type { Envelope, SmtpEnvelope } from '../inbound/envelope.ts'
import { type DnsCache, withDeadline } from './dns-resolver.ts'
import { judgedMail } from './judged-mail.ts'
import { isLoopback } from './loopback.ts'

/** What is known of the sender of a mail, in the words of `mail.inbound`. */
export interface SenderVerdict {
  readonly authentication: 'pass' | 'none' | 'fail' | 'internal'
  /** The sender's domain asks to refuse what fails, and nobody whom we trust vouches for it (mail 13). */
  readonly discard: boolean
  /** Header lines, each with its line end: Received-SPF and Authentication-Results. */
  readonly trace: string
}

export interface SenderAuthenticationOptions {
  /** Our name in Authentication-Results. */
  readonly hostname: string
  readonly dns: DnsCache
  /** Mail from loopback counts as authenticated: the local stack only. */
  readonly trustLoopback: boolean
  /** Domains of forwarders whose ARC seal is believed. */
  readonly arcTrustedSealers: ReadonlySet<string>
  readonly log: Logger
}

/**
 * Judges the sender by SPF, DKIM, DMARC and ARC in at most two seconds of DNS; what is not known by then counts as
 * unknown. Never throws: mail that cannot be judged is unauthenticated, not lost.
 */
export async function authenticateSender(
  raw: Buffer,
  envelope: Envelope,
  options: SenderAuthenticationOptions,
): Promise<SenderVerdict> {
  const { hostname } = options
  if (envelope.via === 'internal') {
    return trusted('internal', `Authentication-Results: ${hostname}; x-internal=pass (handed over inside)\r\n`)
  }
  if (options.trustLoopback && isLoopback(envelope.peer)) {
    const reason = `x-loopback=pass (SENDER_AUTH=trust-loopback) policy.peer=${envelope.peer}`
    return trusted('pass', `Authentication-Results: ${hostname}; ${reason}\r\n`)
  }
  try {
    return await judge(raw, envelope, options)
  } catch (error) {
    options.log.warn({ err: error }, 'the sender of a mail could not be judged')
    return { authentication: 'none', discard: false, trace: `Authentication-Results: ${hostname}; none\r\n` }
  }
}

function trusted(authentication: 'pass' | 'internal', trace: string): SenderVerdict {
  return { authentication, discard: false, trace }
}

async function judge(
  raw: Buffer,
  envelope: SmtpEnvelope,
  options: SenderAuthenticationOptions,
): Promise<SenderVerdict> {
  const deadline = withDeadline(options.dns.resolve, LIMITS.inbound.senderAuthentication)
  warmUp(envelope, deadline.resolve)
  try {
    const result = await authenticate(judgedMail(raw), {
      ip: envelope.peer,
      helo: envelope.helo,
      sender: envelope.mail_from,
      mta: options.hostname,
      resolver: deadline.resolve,
      disableBimi: true,
    })
    const authentication = authenticationOf(result)
    const policy = result.dmarc === false ? undefined : result.dmarc.policy
    const refused = authentication === 'fail' && (policy === 'quarantine' || policy === 'reject')
    const vouched = authentication === 'fail' && isVouchedFor(result.arc, options.arcTrustedSealers)
    return {
      authentication: vouched ? 'pass' : authentication,
      discard: refused && !vouched,
      trace: result.headers,
    }
  } finally {
    deadline.end()
  }
}

/** SPF and DMARC records are asked for at once; the checks that need them come one after the other. */
function warmUp(envelope: SmtpEnvelope, resolve: DnsCache['resolve']): void {
  const domain = envelope.mail_from.slice(envelope.mail_from.lastIndexOf('@') + 1)
  if (domain === '') return
  for (const name of [domain, `_dmarc.${domain}`]) resolve(name, 'TXT').catch(() => {})
}

/**
 * DMARC decides where there is a policy. Without one the domain of `From` must itself have passed: an aligned DKIM
 * signature, or SPF for the same organizational domain. A pass for some other domain says nothing about this sender.
 */
export function authenticationOf({ dmarc, dkim, spf }: AuthenticateResult): 'pass' | 'none' | 'fail' {
  // Several authors, or none: whatever passed, it is not known to be for the one that readers will see.
  const [from, ...others] = dkim.headerFrom
  if (from === undefined || others.length > 0 || dkim.fromFields !== 1) return 'none'
  const outcome = dmarc === false ? undefined : dmarc.status.result
  if (outcome === 'pass') return 'pass'
  if (outcome === 'fail') return 'fail'
  if (dkim.results.some(({ status }) => status.result === 'pass' && Boolean(status.aligned))) return 'pass'
  if (spf === false || spf.status.result !== 'pass') return 'none'
  return sameOrganization(domainOf(from), spf.domain) ? 'pass' : 'none'
}

/** A chain that verifies, sealed last by a forwarder we trust, which saw the mail pass DMARC. */
export function isVouchedFor(arc: ARCResult | false, sealers: ReadonlySet<string>): boolean {
  if (arc === false || arc.status.result !== 'pass') return false
  const seal = arc.chain?.at(-1)?.['arc-seal']?.parsed?.['d']?.value
  const sealer = typeof seal === 'string' ? seal.toLowerCase() : ''
  const isTrusted = [...sealers].some((domain) => sealer === domain || sealer.endsWith(`.${domain}`))
  return isTrusted && arc.authenticationResults?.['dmarc']?.result === 'pass'
}

function domainOf(address: string): string {
  const bare = bareAddress(address)
  return bare.slice(bare.lastIndexOf('@') + 1).toLowerCase()
}

function sameOrganization(a: string, b: string): boolean {
  if (a.toLowerCase() === b.toLowerCase()) return true
  const organization = getDomain(a, { allowPrivateDomains: true })
  return organization !== null && organization === getDomain(b, { allowPrivateDomains: true })
}
