import { normalizeAddress, type ReturnPath } from '@restante/mime'
import { TimeLimitError } from '@restante/service/concurrency'
import type { Component } from '@restante/service/process'
import type { OutboundContent } from '../outbound/outbound-content.ts'
import type { BegunDelivery, OpenDelivery } from '../outcome/delivery.ts'
import { deferredBy, type Outcome } from '../outcome/outcome.ts'
import type { RemoteHost, Timeouts } from '../smtp/connection.ts'
import { SessionFailedError } from '../smtp/failures.ts'
import { IdleSessions } from '../smtp/idle-sessions.ts'
import { type Sent, Session } from '../smtp/session.ts'
import { HostSessions } from './host-sessions.ts'
import type { MxSessions } from './mx-sessions.ts'
import type { Bottleneck, OutgoingMail, Place, Route, Steps } from './route.ts'
import { routeFor, type SenderRoutes, type Smarthost, smarthostKey } from './smarthosts/smarthost.ts'

export interface OutsideRouteOptions {
  readonly content: OutboundContent
  readonly returnPath: ReturnPath
  readonly mxSessions: MxSessions
  /** For mail from domains without a route of their own; undefined: the MX hosts. */
  readonly smarthost: Smarthost | undefined
  readonly senderRoutes: SenderRoutes
  readonly ehloName: string
  readonly timeouts: Timeouts
  /** Certificate authorities instead of the public ones, PEM. */
  readonly ca?: string
}

/**
 * Sends mail by SMTP, to the domain's MX hosts or to a smarthost. One connection serves all recipients of the message
 * at the destination, and for a moment those of the next messages; each recipient has an SMTP transaction of its own,
 * because each has its own return path. A host that fails temporarily before it has the whole message is
 * followed by the next one within the attempt.
 */
export class OutsideRoute implements Route, Component {
  readonly name = 'outside'
  readonly repeatable = false
  readonly #options: OutsideRouteOptions
  readonly #idle = new IdleSessions()

  constructor(options: OutsideRouteOptions) {
    this.#options = options
  }

  bottleneck(place: Place): Bottleneck | undefined {
    const smarthost = this.#smarthostFor(place)
    if (!smarthost) return { key: place.destination, isRelay: false }
    // The only route of all mail needs no limit but the workers: nothing else would go on without it.
    if (this.#options.senderRoutes.size === 0) return undefined
    return { key: smarthostKey(smarthost), isRelay: true, concurrency: smarthost.concurrency }
  }

  async attempt(mail: OutgoingMail, steps: Steps, signal: AbortSignal): Promise<void> {
    const smarthost = this.#smarthostFor(mail)
    const key = smarthost ? smarthostKey(smarthost) : mail.destination
    const opening = mail.patience ? AbortSignal.any([signal, mail.patience]) : signal
    const sessions = new HostSessions((passedOver, until) => this.#open(mail, passedOver, until))
    const idle = this.#idle.take(key)
    if (idle) sessions.add(idle)
    const first = await sessions.next(new Set(), opening)
    if (!(first instanceof Session)) {
      for (const delivery of await steps.begin(mail.deliveries)) steps.report(delivery, first)
      return
    }
    try {
      for (const delivery of mail.deliveries) await this.#deliver(sessions, mail, delivery, steps, signal)
    } finally {
      const kept = sessions.all.find(({ usable }) => usable)
      for (const session of sessions.all) {
        if (session === kept) this.#idle.keep(key, session)
        else session.end()
      }
    }
  }

  async stop(): Promise<void> {
    this.#idle.end()
  }

  #smarthostFor({ senderDomain }: Place): Smarthost | undefined {
    const { smarthost, senderRoutes } = this.#options
    const own = senderDomain === undefined ? undefined : routeFor(senderRoutes, senderDomain)
    return own === 'direct' ? undefined : (own ?? smarthost)
  }

  /**
   * Tries the hosts in their order until one decides about the recipient (RFC 5321 5.1): by accepting the mail, or by refusing
   * it for good, also where a better one has deferred it.
   */
  async #deliver(
    sessions: HostSessions,
    mail: OutgoingMail,
    open: OpenDelivery,
    steps: Steps,
    signal: AbortSignal,
  ): Promise<void> {
    const delivery = await steps.beginSending(open)
    if (!delivery) return
    const tried = new Set<Session>()
    let deferred: Outcome | undefined
    for (;;) {
      const session = await sessions.next(tried, signal)
      if (!(session instanceof Session)) {
        steps.report(delivery, deferred ?? session)
        return
      }
      tried.add(session)
      const { outcome, worthTrying } = await this.#send(session, mail, delivery, signal)
      if (worthTrying === undefined) {
        steps.report(delivery, outcome)
        return
      }
      if (worthTrying === 'new-session') sessions.forget(session)
      else deferred = moreTelling(deferred, outcome)
    }
  }

  async #send(session: Session, mail: OutgoingMail, delivery: BegunDelivery, signal: AbortSignal): Promise<Sent> {
    const { content, size } = await this.#options.content.read(mail.send, delivery.id)
    const sent = await session.send(this.#envelope(mail, delivery, size), content, signal)
    // Interrupted by a shutdown: what the server did is unknown, so nothing is decided.
    if (sent.outcome.kind === 'deferred' && !outOfTime(signal)) signal.throwIfAborted()
    return sent
  }

  #envelope({ send }: OutgoingMail, delivery: BegunDelivery, size: number) {
    const from = this.#options.returnPath.addressFor(delivery.id, send.returnPath)
    return { from, to: asciiDomain(delivery.recipient), size }
  }

  /** A session with the first host that accepts one; otherwise the outcome of the last. A smarthost is the only host. */
  async #open(place: Place, passedOver: string[], signal: AbortSignal): Promise<Session | Outcome | undefined> {
    if (!outOfTime(signal)) signal.throwIfAborted()
    const smarthost = this.#smarthostFor(place)
    if (smarthost && passedOver.length > 0) return undefined
    const opening = smarthost
      ? this.#openSmarthost(smarthost, signal)
      : this.#options.mxSessions.open(place.destination, signal, passedOver)
    const session = await opening.catch((error: unknown) => {
      if (!outOfTime(signal)) throw error
      return deferredBy('4.4.1', 'No session came about within the time of an attempt.')
    })
    if (!(session instanceof Session) && !outOfTime(signal)) signal.throwIfAborted()
    return session
  }

  #openSmarthost({ host: name, port, tls, credentials }: Smarthost, signal: AbortSignal): Promise<Session | Outcome> {
    const verified = tls === 'required' || tls === 'implicit'
    return this.#session({ name, port, tls, verified, ...(credentials && { credentials }) }, signal)
  }

  async #session(remote: RemoteHost, signal: AbortSignal): Promise<Session | Outcome> {
    const { ehloName, timeouts, ca } = this.#options
    try {
      return await Session.open({ ...remote, ...(ca !== undefined && { ca }) }, ehloName, timeouts, signal)
    } catch (error) {
      if (!(error instanceof SessionFailedError)) throw error
      // A password must not be sent unencrypted, where an attacker who disturbs TLS could read it.
      const plain = error.tls && remote.tls === 'opportunistic' && !remote.credentials
      return plain ? this.#session({ ...remote, tls: 'none' }, signal) : error.outcome
    }
  }
}

/**
 * Whether the other side used up all the time of an attempt. That is a failure like any other, which ends with the
 * retry window; an attempt that ends because of a shutdown, or because its lease is lost, has decided nothing.
 */
function outOfTime({ reason }: AbortSignal): boolean {
  return reason instanceof TimeLimitError
}

/** Of the failures of two hosts, the later, unless it says only that the way failed (RFC 3463 3.5). */
function moreTelling(earlier: Outcome | undefined, later: Outcome): Outcome {
  return earlier && later.verdict.status.startsWith('4.4.') ? earlier : later
}

/** The local part as given, the domain in A-labels, which every server understands. */
function asciiDomain(address: string): string {
  const normal = normalizeAddress(address)
  return address.slice(0, address.lastIndexOf('@')) + normal.slice(normal.lastIndexOf('@'))
}
