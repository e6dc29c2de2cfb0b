import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import { deferredBy, type Outcome, readReply, refusedBy } from '../outcome/outcome.ts'

/** One host that may accept mail, and how to connect to it. */
export interface Peer {
  /** Name for the log, for delivery events, and for the certificate. */
  readonly name: string
  readonly port: number
  /** An open TCP connection; without one the session connects to `name` by itself. */
  readonly socket?: Socket
  readonly tls: 'opportunistic' | 'required' | 'implicit' | 'none'
  /**
   * Certificates are verified only where an operator configured the host: for an MX from DNS there is nothing to
   * verify.
   */
  readonly verified: boolean
  readonly credentials?: { readonly user: string; readonly pass: string }
}

export interface Timeouts {
  readonly connectMs: number
  /** Longest silence of the server, from the greeting to the answer after the message. */
  readonly answerMs: number
}

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

export interface Envelope {
  readonly from: string
  readonly to: string
  /** Bytes, declared to servers that know SIZE (RFC 1870). */
  readonly size: number
}

/** Servers that limit the messages per connection rarely allow fewer. */
const MOST_MESSAGES = 100

const UNICODE = /[^\p{ASCII}]/u

/** One SMTP session with one host: any number of messages, one recipient each, because each has its own return path. */
export class Session {
  readonly peer: Peer
  readonly #connection: SMTPConnection
  readonly #extensions: string
  /** IP address of the server; a closed connection no longer has it. */
  readonly #address: string | undefined
  readonly #ended: Promise<void>
  #broken = false
  #messages = 0

  /** @param extensions the server's response to EHLO. */
  private constructor(peer: Peer, connection: SMTPConnection, extensions: string) {
    this.peer = peer
    this.#connection = connection
    this.#extensions = extensions
    const { _socket: socket } = connection
    this.#address = socket ? socket.remoteAddress : undefined
    this.#ended = new Promise((resolve) => {
      connection.once('end', resolve)
    })
    this.#ended.then(() => this.#break())
  }

  /**
   * Connects, greets, and encrypts the connection if the host supports it.
   * @throws SessionFailedError
   */
  static async open(peer: Peer, ehloName: string, timeouts: Timeouts, signal: AbortSignal): Promise<Session> {
    const connection = new SMTPConnection(connectionOptions(peer, ehloName, timeouts))
    // Every failure also rejects the call that it interrupts; without a listener it would end the process.
    connection.on('error', () => {})
    const cut = (): void => connection.close()
    signal.addEventListener('abort', cut, { once: true })
    try {
      await connect(connection)
      const extensions = connection.lastServerResponse || ''
      if (peer.credentials) await login(connection, peer.credentials)
      return new Session(peer, connection, extensions)
    } catch (error) {
      const failure = sessionFailure(error, peer, connection.upgrading === true)
      connection.close()
      throw failure
    } finally {
      signal.removeEventListener('abort', cut)
    }
  }

  /** Whether the connection is encrypted. */
  get secure(): boolean {
    return this.#connection.secure
  }

  /** Whether another message can be sent over it. */
  get usable(): boolean {
    return !this.#broken
  }

  /** Whether it has carried as many messages as one connection should. */
  get wornOut(): boolean {
    return this.#messages >= MOST_MESSAGES
  }

  /**
   * Sends one message to one recipient. A 4xx or 5xx reply is an outcome; so is a broken connection, after which the
   * server may have taken the message all the same.
   * @returns `over` when the server ended the session after earlier messages, before this one was begun: the outcome is
   * open, and a new session is worth a try.
   * @throws the error of `content` when the message cannot be read.
   */
  async send(envelope: Envelope, content: Readable, signal: AbortSignal): Promise<Outcome | 'over'> {
    const { name } = this.peer
    const first = this.#messages++ === 0
    if (UNICODE.test(envelope.to) && !/[ -]SMTPUTF8\b/i.test(this.#extensions)) {
      content.on('error', () => {}).destroy()
      return refusedBy('5.6.7', 'The server does not take internationalized addresses (RFC 6531).', name)
    }
    const cut = (): void => this.close()
    signal.addEventListener('abort', cut, { once: true })
    try {
      const { response } = await this.#transfer(envelope, content)
      return readReply(response, name, this.#address)
    } catch (error) {
      const over = !first && !signal.aborted && !content.readableDidRead && endsSession(error)
      const outcome = await this.#failure(error)
      return over ? 'over' : outcome
    } finally {
      signal.removeEventListener('abort', cut)
      // Not every early end of a transfer releases the stream.
      content.on('error', () => {}).destroy()
    }
  }

  /** Ends the session with QUIT if it is still open. */
  end(): void {
    if (this.#broken) {
      this.#connection.close()
      return
    }
    this.#connection.quit()
  }

  close(): void {
    this.#break()
    this.#connection.close()
  }

  #transfer(envelope: Envelope, content: Readable): Promise<SMTPConnection.SentMessageInfo> {
    const { promise, resolve, reject } = Promise.withResolvers<SMTPConnection.SentMessageInfo>()
    const message = { from: envelope.from, to: [envelope.to], size: envelope.size, use8BitMime: true }
    this.#connection.send(message, content, (error, info) => {
      if (error) reject(error)
      else resolve(info)
    })
    // A connection closed from this side drops the message in flight.
    this.#ended.then(() => reject(new Error('the connection was closed')))
    return promise
  }

  async #failure(error: unknown): Promise<Outcome> {
    const { code, response, command } = smtpError(error)
    const { name } = this.peer
    if (code === 'ESTREAM') {
      // Part of the message is on the wire; only closing the connection keeps it from counting as complete.
      this.close()
      throw error
    }
    if (response !== undefined) {
      await this.#reset()
      // The server requires TLS, or a login (RFC 3207 4, RFC 4954 6): this concerns the session, not the recipient.
      if (this.peer.tls === 'none' && response.startsWith('530')) return deferredBy('4.7.0', response, name)
      return readReply(response, name)
    }
    // The client compares the size with the server's limit before it sends anything.
    if (code === 'EMESSAGE' && command === 'MAIL FROM') return refusedBy('5.3.4', messageOf(error), name)
    this.close()
    return deferredBy('4.4.2', `The connection broke: ${messageOf(error)}`, name)
  }

  async #reset(): Promise<void> {
    if (this.#broken) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#connection.reset((error) => {
      if (error) this.#break()
      resolve()
    })
    // When the server disconnects instead of answering, the callback is never called.
    await Promise.race([promise, this.#ended])
  }

  #break(): void {
    this.#broken = true
  }
}

function connectionOptions(peer: Peer, ehloName: string, timeouts: Timeouts): SMTPConnectionOptions {
  return {
    host: peer.name,
    port: peer.port,
    ...(peer.socket !== undefined && { connection: peer.socket }),
    name: ehloName,
    secure: peer.tls === 'implicit',
    ignoreTLS: peer.tls === 'none',
    requireTLS: peer.tls === 'required',
    tls: { rejectUnauthorized: peer.verified, servername: peer.name, minVersion: peer.verified ? 'TLSv1.2' : 'TLSv1' },
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.answerMs,
    socketTimeout: timeouts.answerMs,
    logger: false,
  }
}

function connect(connection: SMTPConnection): Promise<void> {
  return untilDone(connection, (done) => connection.connect(done))
}

function login(connection: SMTPConnection, credentials: { user: string; pass: string }): Promise<void> {
  return untilDone(connection, (done) => connection.login({ credentials }, done))
}

/**
 * Runs one step of the session, which ends with its callback, with an error event, or with the end of the connection.
 */
async function untilDone(
  connection: SMTPConnection,
  step: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const ended = (): void => reject(new Error('the connection was closed'))
  connection.once('error', reject)
  connection.once('end', ended)
  try {
    step((error) => (error ? reject(error) : resolve()))
    await promise
  } finally {
    connection.off('error', reject)
    connection.off('end', ended)
  }
}

interface SmtpError {
  readonly code: string | undefined
  readonly response: string | undefined
  readonly command: string | undefined
}

/** Reads nodemailer's description of a failure. */
function smtpError(error: unknown): SmtpError {
  const member = (name: string): string | undefined => {
    const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
    return typeof value === 'string' ? value : undefined
  }
  return { code: member('code'), response: member('response'), command: member('command') }
}

/** Whether a failure ends the session: no reply, or a 421 to MAIL (RFC 5321 3.8). */
function endsSession(error: unknown): boolean {
  const { code, response, command } = smtpError(error)
  if (response === undefined) return code !== 'EMESSAGE'
  return response.startsWith('421') && command === 'MAIL FROM'
}

/**
 * Before the first MAIL even a 5xx (for example in the greeting) concerns this host at this time, not a recipient:
 * other hosts are tried, then later times.
 */
function sessionFailure(error: unknown, peer: Peer, upgrading: boolean): SessionFailedError {
  const { code, response } = smtpError(error)
  const tls = upgrading || code === 'ETLS'
  const text = response === undefined ? `No session: ${messageOf(error)}` : `Refused the session: ${response}`
  const status = tls ? '4.7.5' : code === 'ETIMEDOUT' ? '4.4.1' : '4.4.2'
  const mta = response === undefined ? undefined : peer.name
  return new SessionFailedError(deferredBy(status, text, mta), { tls, cause: error })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
