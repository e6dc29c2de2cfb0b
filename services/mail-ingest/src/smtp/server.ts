import { LIMITS } from '@restante/contracts/vocabulary'
import { normalizeAddress } from '@restante/mime'
import { PeerLimit, withinNetworks } from '@restante/service/connections'
import type { Component } from '@restante/service/process'
import { inSpan, type Logger } from '@restante/service/telemetry'
import type {
  SMTPServer,
  SMTPServerAddress,
  SMTPServerDataStream,
  SMTPServerOptions,
  SMTPServerSession,
} from 'smtp-server'
import type { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import type { Acceptance, Destinations } from '../inbound/acceptance.ts'
import { withoutLoops } from '../inbound/loops.ts'
import type { Recipient, RecipientLookup } from '../inbound/recipients.ts'
import type { RawMailWriter } from '../raw/writer.ts'
import type { Admission } from './admission.ts'
import { type CertificateFiles, followCertificate, readCertificate, selfSigned } from './protocol/certificate.ts'
import { checkedContent, drain } from './protocol/content.ts'
import { GuardedServer } from './protocol/guarded-server.ts'
import { noMailAtDomain, noSuchMailbox, Refusal, refusalFor } from './refusal.ts'
import { countsOf, destinationsOf, envelopeOf, isApart, outcomeOf, type Session } from './session.ts'
import { smtpAnswers, smtpConnections, smtpMails, smtpRecipients, smtpSessions } from './telemetry.ts'

export interface SmtpEdgeOptions {
  readonly host: string
  readonly port: number
  readonly hostname: string
  readonly certificate: CertificateFiles | undefined
  readonly maxConnections: number
  readonly peerConnections: number
  /** Proxies in front, whose connections begin with a header of the PROXY protocol: addresses and networks (CIDR). */
  readonly proxyNetworks: readonly string[]
  readonly maxRecipients: number
  readonly idleTimeoutMs: number
  /** Replaces the idle timeout while most connections are in use. */
  readonly timeoutUnderLoadMs: number
  /** Minimum rate, in bytes per second, at which a mail must arrive. */
  readonly minRate: number
  /** Of mail that was forwarded to the operator. */
  readonly forwardMark: string
  readonly recipients: RecipientLookup
  readonly acceptance: Acceptance
  readonly admission: Admission
  readonly writer: RawMailWriter
  readonly log: Logger
}

/** Maximum lifetime of a connection. */
const LIFETIME_MS = 3_600_000
/** Unknown recipients of one connection before it is closed. */
const REFUSED_RECIPIENTS = 20
/** How much is read of a mail after it was refused; a client that sends more is disconnected. */
const DRAIN_BYTES = 2 * LIMITS.inbound.bytes
const CLOSE_MS = 10_000
/** Commands without a mail, in addition to one for each recipient, before a connection is closed. */
const IDLE_COMMANDS = 1_000

/**
 * The public SMTP server: EHLO with STARTTLS, SIZE, PIPELINING, 8BITMIME and SMTPUTF8, no AUTH. It keeps smtp-server's
 * 100 ms of silence before the greeting: a client that sends in that time is a bot, and is refused; real servers pay it
 * once per connection, not per mail. Lines end with CR LF and nothing else, in commands (521) as in mails (554 at their
 * end), and a client that violates this is disconnected: input that two servers could read differently is not read.
 */
export class SmtpEdge implements Component {
  readonly name = 'smtp'
  readonly stage = 'front'
  readonly #options: SmtpEdgeOptions
  readonly #log: Logger
  readonly #peers: PeerLimit
  readonly #isProxy: (address: string) => boolean
  readonly #sessions = new Map<string, Session>()
  #server: SMTPServer | undefined
  #leaveCertificate: () => void = () => {}

  constructor(options: SmtpEdgeOptions) {
    this.#options = options
    this.#log = options.log
    this.#peers = new PeerLimit(options.peerConnections)
    this.#isProxy = withinNetworks(options.proxyNetworks)
  }

  /** The port it listens on; differs from the configured one when that was 0. */
  get port(): number {
    const address = this.#server?.server.address()
    if (typeof address !== 'object' || address === null) throw new Error('The SMTP server is not listening')
    return address.port
  }

  async start(): Promise<void> {
    const { host, port, certificate, hostname } = this.#options
    const server = this.#create(certificate ? await readCertificate(certificate) : await selfSigned(hostname))
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
    server.on('error', (error) => this.#log.debug({ err: error }, 'smtp connection error'))
    if (certificate) this.#leaveCertificate = followCertificate(certificate, server, this.#log)
  }

  async ready(): Promise<void> {
    if (!this.#server?.server.listening) throw new Error('the SMTP server is not listening')
  }

  /** Accepts no new connections and gives those in the middle of a mail 10 s to finish it. */
  async stop(): Promise<void> {
    this.#leaveCertificate()
    await new Promise<void>((resolve) => {
      if (!this.#server) return resolve()
      this.#server.close(resolve)
    })
    for (const session of this.#sessions.values()) clearTimeout(session.lifetime)
  }

  #create(certificate: { cert: string; key: string }): SMTPServer {
    const { hostname, maxConnections, maxRecipients, idleTimeoutMs, timeoutUnderLoadMs, minRate } = this.#options
    const options: SMTPServerOptions = {
      ...certificate,
      name: hostname,
      heloResponse: '%s at your service',
      size: LIMITS.inbound.bytes,
      rejectOversized: true,
      maxClients: maxConnections,
      maxRecipients,
      socketTimeout: idleTimeoutMs,
      closeTimeout: CLOSE_MS,
      disabledCommands: ['AUTH', 'VRFY', 'HELP', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
      hideENHANCEDSTATUSCODES: false,
      // PTR records are not used by the pipeline, and querying them would delay the greeting.
      disableReverseLookup: true,
      logger: false,
      onMailFrom: (address, session, callback) => void this.#mail(address, session).then(callback, callback),
      onRcptTo: (address, session, callback) => void this.#recipient(address, session).then(callback, callback),
      onData: (stream, session, callback) =>
        void this.#data(stream, session).then((id) => callback(null, `OK: queued as ${id}`), callback),
      onClose: (session) => this.#disconnect(session),
    }
    const commands = IDLE_COMMANDS + maxRecipients
    const limits = { ms: idleTimeoutMs, underLoadMs: timeoutUnderLoadMs, bytesPerSecond: minRate, commands }
    return new GuardedServer(options, {
      limits,
      isProxy: this.#isProxy,
      proxyRefused: (peer, problem) =>
        this.#log[this.#isProxy(peer) ? 'warn' : 'info']({ peer, problem }, 'PROXY header refused'),
      admit: (connection) => this.#admit(connection),
      reset: ({ id }) => this.#reset(id),
      answered: (code) => smtpAnswers.inc({ code: String(code) }),
    })
  }

  #admit({ id, remoteAddress: peer }: SMTPConnection): boolean {
    const admitted = this.#peers.enter(peer)
    smtpSessions.inc({ outcome: admitted ? 'admitted' : 'limited' })
    if (!admitted) return false
    const lifetime = setTimeout(() => this.#close(id, 'Session too long'), LIFETIME_MS)
    lifetime.unref()
    const allowance = this.#options.admission.open(peer)
    this.#sessions.set(id, { peer, recipients: new Map(), named: 0, allowance, refused: 0, lifetime })
    smtpConnections.inc()
    return true
  }

  /** The transaction ended without a mail: RSET, EHLO, STARTTLS. After DATA its allowance belongs to the mail. */
  #reset(id: string): void {
    const session = this.#sessions.get(id)
    if (!session) return
    session.recipients.clear()
    session.named = 0
    this.#options.admission.end(session.allowance, false, 0)
  }

  #disconnect({ id }: SMTPServerSession): void {
    const session = this.#sessions.get(id)
    if (!session) return
    this.#sessions.delete(id)
    this.#options.admission.end(session.allowance, false, 0)
    this.#peers.leave(session.peer)
    clearTimeout(session.lifetime)
    smtpConnections.dec()
  }

  #close(id: string, reason: string): void {
    for (const connection of this.#server?.connections ?? []) if (connection.id === id) connection.send(421, reason)
  }

  /** Resolves to the refusal of a mail, or to nothing when recipients may follow. */
  async #mail({ args }: SMTPServerAddress, { id }: SMTPServerSession): Promise<Refusal | null> {
    const session = this.#sessions.get(id)
    if (!session) return new Refusal(421, 'Session closed')
    session.recipients.clear()
    session.named = 0
    const declared = Number(args !== false && 'SIZE' in args ? args.SIZE : 0)
    return this.#options.admission.mail(session.allowance, Number.isFinite(declared) ? declared : 0)
  }

  /** Resolves to the refusal of a recipient, or to nothing when it is accepted. */
  async #recipient({ address }: SMTPServerAddress, { id }: SMTPServerSession): Promise<Refusal | null> {
    const session = this.#sessions.get(id)
    if (!session) return new Refusal(421, 'Session closed')
    if (session.named >= this.#options.maxRecipients) return new Refusal(452, '4.5.3 Too many recipients')
    try {
      const recipient = await this.#options.recipients.find(address)
      if (isApart(recipient, session.recipients.values())) return new Refusal(452, '4.5.3 Send this recipient apart')
      const limited = await this.#limit(session, recipient)
      if (limited) {
        smtpRecipients.inc({ outcome: 'limited' })
        return limited
      }
      smtpRecipients.inc({ outcome: outcomeOf(recipient) })
      if (recipient.kind !== 'unknown') {
        session.recipients.set(address.toLowerCase(), recipient)
        session.named++
        return null
      }
      session.refused++
      if (session.refused >= REFUSED_RECIPIENTS) return new Refusal(421, 'Too many unknown recipients')
      return recipient.why === 'domain' ? noMailAtDomain() : noSuchMailbox()
    } catch (error) {
      smtpRecipients.inc({ outcome: 'deferred' })
      this.#log.warn({ err: error }, 'recipient look-up failed')
      return new Refusal(451, 'Recipient cannot be checked now, try again later')
    }
  }

  async #limit({ allowance }: Session, recipient: Recipient): Promise<Refusal | null> {
    const { admission } = this.#options
    if (recipient.kind === 'operator') return admission.operator(allowance)
    return recipient.kind === 'inbox' ? admission.recipient(allowance, recipient.answer) : null
  }

  /** Resolves when the mail is accepted durably, to the id in the reply 250. */
  async #data(stream: SMTPServerDataStream, smtp: SMTPServerSession): Promise<string> {
    const begun = performance.now()
    const { admission } = this.#options
    const session = this.#sessions.get(smtp.id)
    const { recipients, peer } = session ?? { recipients: new Map(), peer: smtp.remoteAddress }
    // From now on the allowance belongs to this mail: it must not be given back when the client disconnects.
    const allowance = session?.allowance ?? admission.open(peer)
    if (session) session.allowance = admission.open(peer)
    const accepted = smtp.envelope.rcptTo.flatMap(({ address }) => recipients.get(address.toLowerCase()) ?? [])
    const to = destinationsOf(accepted, peer)
    const fields = { peer, helo: smtp.hostNameAppearsAs, ...countsOf(to) }
    const elapsed = () => Math.round((performance.now() - begun) * 10) / 10
    try {
      const limited = await admission.content(allowance)
      if (limited) throw limited
      const id = await inSpan('smtp mail', undefined, () => this.#receive(stream, smtp, accepted, to))
      admission.end(allowance, true, stream.byteLength)
      smtpMails.inc({ outcome: 'accepted' })
      this.#log.info({ ...fields, mail: id, size: stream.byteLength, ms: elapsed() }, 'mail accepted')
      return id
    } catch (error) {
      const refusal = refusalFor(error)
      smtpMails.inc({ outcome: refusal.outcome })
      const level = refusal.outcome === 'deferred' ? 'error' : 'info'
      this.#log[level]({ ...fields, err: error, code: refusal.responseCode, ms: elapsed() }, 'mail refused')
      if (!(await drain(stream, DRAIN_BYTES).catch(() => true))) this.#close(smtp.id, 'Too much data')
      admission.end(allowance, false, stream.byteLength)
      throw refusal
    }
  }

  async #receive(
    stream: SMTPServerDataStream,
    smtp: SMTPServerSession,
    accepted: readonly Recipient[],
    to: Destinations,
  ): Promise<string> {
    const { acceptance, admission, writer, recipients, hostname } = this.#options
    // An operator who reads mail here has two addresses.
    const inboxes = accepted.flatMap((recipient) =>
      recipient.kind === 'inbox' ? [recipient.answer.address, normalizeAddress(recipient.given)] : [],
    )
    const forOperator = accepted.some(({ kind }) => kind === 'operator')
    const bytes = forOperator ? LIMITS.inbound.operatorBytes : LIMITS.inbound.bytes
    const mark = forOperator ? this.#options.forwardMark : undefined
    const content = withoutLoops(checkedContent(stream, bytes), { hostname, inboxes, mark })
    if (to.rows.length > 0) {
      const stillThere = async () => {
        const now = await recipients.renew(accepted)
        if (now.every(({ kind }) => kind === 'unknown')) throw noSuchMailbox()
        return destinationsOf(now, smtp.remoteAddress)
      }
      const written = await writer.write(content)
      await acceptance.accept(envelopeOf(smtp), written, stillThere)
      admission.stored(to.rows, stream.byteLength)
      return written.id
    }
    for await (const _ of content);
    await acceptance.acceptWithoutBytes(stream.byteLength, to)
    return smtp.id
  }
}
