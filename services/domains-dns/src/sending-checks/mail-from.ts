import { hostname } from 'node:os'
import { spf } from 'mailauth/lib/spf/index.js'
import type { SendingOutcome } from '../records/checks.ts'
import type { MailauthResolver } from './mailauth-resolver.ts'
import { probeRecipient } from './recipient-probe.ts'

export interface MailFromOptions {
  /** Addresses that mail leaves from; none: that the published record is valid has to do. */
  readonly outboundAddresses: readonly string[]
  /** Where mail for return paths is probed; undefined: it is not. */
  readonly hosts: (() => Promise<readonly ProbedHost[]>) | undefined
}

export interface ProbedHost {
  readonly address: string
  readonly port: number
}

/**
 * Whether receivers accept a return path of the installation: SPF passes for every address that mail leaves from
 * (RFC 7208), and reports about its mail are accepted (domains 7.1).
 * @param returnPath domain of the envelope senders.
 */
export async function checkMailFrom(
  returnPath: string,
  { outboundAddresses, hosts }: MailFromOptions,
  resolver: MailauthResolver,
  signal: AbortSignal,
): Promise<SendingOutcome> {
  for (const ip of outboundAddresses) {
    const outcome = await checkSpf(returnPath, ip, resolver)
    if (outcome !== 'passed') return outcome
  }
  return hosts === undefined ? 'passed' : probeHosts(await hosts(), returnPath, signal)
}

async function checkSpf(returnPath: string, ip: string, resolver: MailauthResolver): Promise<SendingOutcome> {
  const { status } = await spf({ sender: `postmaster@${returnPath}`, ip, helo: returnPath, mta: hostname(), resolver })
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
