import type { MxConnection } from 'mx-connect'
import { deferredBy, type Outcome } from '../outcome/outcome.ts'
import type { RemoteHost, Timeouts } from '../smtp/connection.ts'
import { SessionFailedError } from '../smtp/failures.ts'
import { Session } from '../smtp/session.ts'
import { usable } from '../smtp/tlsa.ts'
import type { MtaSts } from './mta-sts/mta-sts.ts'
import { lists, type MtaStsPolicy } from './mta-sts/policy.ts'
import { type MxHosts, NoMxError, unlessAborted } from './mx-hosts.ts'

export interface MxSessionsOptions {
  readonly mxHosts: MxHosts
  /** Absent: policies are not looked at. */
  readonly mtaSts?: MtaSts | undefined
  readonly ehloName: string
  readonly timeouts: Timeouts
  /** Certificate authorities instead of the public ones, PEM. */
  readonly ca?: string
}

/** An MX host with which no session came about. */
interface PassedOver {
  readonly address: string
  readonly outcome: Outcome
}

/** Most hosts of one domain that are tried in one attempt. */
const MOST_HOSTS = 5

/** Opens sessions with the MX hosts of domains, as secure as each domain demands. */
export class MxSessions {
  readonly #options: MxSessionsOptions

  constructor(options: MxSessionsOptions) {
    this.#options = options
  }

  /**
   * A session with the first host that accepts one; otherwise the outcome of the last.
   * @param passedOver addresses of hosts that were tried in this attempt already; those that do not accept a session are
   * added.
   */
  async open(domain: string, signal: AbortSignal, passedOver: string[] = []): Promise<Session | Outcome> {
    let last: Outcome | undefined
    const { mtaSts } = this.#options
    signal.throwIfAborted()
    const policy = mtaSts && (await unlessAborted(mtaSts.policyFor(domain), signal))
    const enforced = policy?.mode === 'enforce' ? policy : undefined
    while (passedOver.length < MOST_HOSTS) {
      const session = await this.#next(domain, enforced, passedOver, signal)
      if (session instanceof Session) return session
      // The list is exhausted: the answer of the last host that was reached is more informative.
      if (session instanceof NoMxError) return last ?? session.outcome
      last = session.outcome
      passedOver.push(session.address)
    }
    return last ?? deferredBy('4.4.1', 'No host of the domain was reached.')
  }

  async #next(
    domain: string,
    policy: MtaStsPolicy | undefined,
    passedOver: readonly string[],
    signal: AbortSignal,
  ): Promise<Session | NoMxError | PassedOver> {
    try {
      const found = await this.#options.mxHosts.connect(domain, passedOver, signal)
      const outcome = await this.#with(found, domain, policy, signal)
      if (outcome !== 'plain') return outcome instanceof Session ? outcome : { address: found.host, outcome }
      // RFC 3207 leaves it to the client; unencrypted delivery is better than none, as without STARTTLS.
      const again = await this.#options.mxHosts.connect(domain, passedOver, signal)
      const plain = await this.#session(again, { tls: 'none', verified: false }, signal)
      return plain instanceof SessionFailedError ? { address: again.host, outcome: plain.outcome } : plain
    } catch (error) {
      if (error instanceof NoMxError) return error
      throw error
    }
  }

  /** Secure records come before a policy, which cannot make up for them (RFC 8461 2). */
  async #with(
    found: MxConnection,
    domain: string,
    policy: MtaStsPolicy | undefined,
    signal: AbortSignal,
  ): Promise<Session | Outcome | 'plain'> {
    const records = found.tlsaRecords ?? []
    const known = usable(records)
    if (known.length > 0) {
      const tlsa = { records: known, names: [found.hostname, domain] }
      const session = await this.#session(found, { tls: 'required', verified: false, tlsa }, signal)
      return strict(session, `required by the TLSA records of ${found.hostname}`)
    }
    if (policy) return this.#listed(found, domain, policy, signal)
    if (records.length > 0) {
      // Nothing to recognise the server by, but it has promised to encrypt (RFC 7672 2.2).
      const session = await this.#session(found, { tls: 'required', verified: false }, signal)
      return strict(session, `required by the TLSA records of ${found.hostname}`)
    }
    const session = await this.#session(found, { tls: 'opportunistic', verified: false }, signal)
    if (session instanceof Session) return session
    return session.tls ? 'plain' : session.outcome
  }

  /** A session that the policy of the domain allows: with a listed host, under a valid certificate (RFC 8461 4). */
  async #listed(
    found: MxConnection,
    domain: string,
    policy: MtaStsPolicy,
    signal: AbortSignal,
  ): Promise<Session | Outcome> {
    if (!lists(policy, found.hostname)) {
      found.socket.destroy()
      return deferredBy('4.7.5', `The MTA-STS policy of ${domain} does not list its MX host ${found.hostname}.`)
    }
    const session = await this.#session(found, { tls: 'required', verified: true }, signal)
    return strict(session, `required by the MTA-STS policy of ${domain}`)
  }

  async #session(
    { hostname: name, host: address, socket, port }: MxConnection,
    demands: Pick<RemoteHost, 'tls' | 'verified' | 'tlsa'>,
    signal: AbortSignal,
  ): Promise<Session | SessionFailedError> {
    const { ehloName, timeouts, ca } = this.#options
    const trust = demands.verified && ca !== undefined ? { ca } : {}
    try {
      return await Session.open({ name, port, address, socket, ...demands, ...trust }, ehloName, timeouts, signal)
    } catch (error) {
      if (error instanceof SessionFailedError) return error
      throw error
    }
  }
}

/** The outcome says why there is no way without TLS. */
function strict(session: Session | SessionFailedError, why: string): Session | Outcome {
  if (session instanceof Session) return session
  const { status, text } = session.outcome.verdict
  return status === '4.7.5' ? deferredBy('4.7.5', `${text} (${why})`) : session.outcome
}
