import { hostname } from 'node:os'
import { spf } from 'mailauth/lib/spf/index.js'
import type { SendingOutcome } from '../records/checks.ts'
import type { MailauthResolver } from './mailauth-resolver.ts'
import { type ProbedHost, probeRecipient } from './recipient-probe.ts'

/** For SPF of all addresses: what receivers allow at least (RFC 7208 4.6.4). */
const SPF_MS = 20_000

export interface MailFromOptions {
  /** Addresses that mail leaves from; none: that the published record is valid has to do. */
  readonly outboundAddresses: readonly string[]
  /** Where mail for return paths is probed; undefined: it is not. */
  readonly hosts: (() => Promise<readonly ProbedHost[]>) | undefined
  /** For SPF of all addresses; what takes longer gives no answer. Default 20,000. */
  readonly spfMs?: number
}

/**
 * Whether receivers accept a return path of the installation: SPF passes for every address that mail leaves from
 * (RFC 7208), and reports about its mail are accepted (domains 7.1).
 * @param returnPath domain of the envelope senders.
 */
export async function checkMailFrom(
  returnPath: string,
  { outboundAddresses, hosts, spfMs = SPF_MS }: MailFromOptions,
  resolver: MailauthResolver,
  signal: AbortSignal,
): Promise<SendingOutcome> {
  const outcomes = await Promise.all([
    // All at once: a policy of an owner may name servers that are as slow as they can be, and each address asks them.
    ...outboundAddresses.map((ip) => checkSpf(returnPath, ip, { resolver, maxElapsedTime: spfMs })),
    hosts === undefined ? 'passed' : hosts().then((found) => probeHosts(found, returnPath, signal)),
  ])
  return (['failed', 'unanswered'] as const).find((outcome) => outcomes.includes(outcome)) ?? 'passed'
}

async function checkSpf(
  returnPath: string,
  ip: string,
  limits: { readonly resolver: MailauthResolver; readonly maxElapsedTime: number },
): Promise<SendingOutcome> {
  const { status } = await spf({ sender: `postmaster@${returnPath}`, ip, helo: returnPath, mta: hostname(), ...limits })
  if (status.result === 'pass') return 'passed'
  return status.result === 'temperror' ? 'unanswered' : 'failed'
}

/** A sender tries each address until one answers. */
async function probeHosts(
  hosts: readonly ProbedHost[],
  returnPath: string,
  signal: AbortSignal,
): Promise<SendingOutcome> {
  for (const host of hosts) {
    const outcome = await probeRecipient(host, `postmaster@${returnPath}`, signal)
    if (outcome !== 'unanswered') return outcome
  }
  return 'unanswered'
}
