import type { Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { messageOf } from '@restante/service/errors'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { deferredBy, type Outcome, readReply, refusedBy } from '../outcome/outcome.ts'
import { connect, connectionOptions, login, type RemoteHost, type Timeouts } from './connection.ts'
import { endsSession, SessionFailedError, sessionFailure, smtpError } from './failures.ts'
import { isDescribed } from './tlsa.ts'

export interface Envelope {
  readonly from: string
  readonly to: string
  /** Bytes, declared to servers that know SIZE (RFC 1870). */
  readonly size: number
}

/** What came of one message. */
export interface Sent {
  readonly outcome: Outcome
  /**
   * Where the message may be sent at once instead. A new session: the server ended this one after earlier messages,
   * before this message was begun. The next host: this one failed for now without having the whole message, so that the
   * recipient cannot get it twice.
   */
  readonly worthTrying?: 'new-session' | 'next-host'
}

/** Servers that limit the messages per connection rarely allow fewer. */
const MOST_MESSAGES = 100

const UNICODE = /[^\p{ASCII}]/u

/** Whether STARTTLS was offered and, by its client's next command, asked for, without an answer yet. */
function isAsking({ secure, lastServerResponse }: SMTPConnection, { tls }: RemoteHost): boolean {
  return !secure && tls !== 'none' && /^250[ -]STARTTLS\b/im.test(lastServerResponse || '')
}

/** @throws SessionFailedError when the server is not the one that the records of the host describe. */
function requireDescribed({ _socket: socket }: SMTPConnection, { tlsa, name }: RemoteHost): void {
  if (!tlsa) return
  if (socket instanceof TLSSocket && isDescribed(socket, tlsa.records, tlsa.names)) return
  const outcome = deferredBy('4.7.5', `The certificate of ${name} is not the one that its TLSA records describe`)
  throw new SessionFailedError(outcome, { tls: true, cause: undefined })
}

/** One SMTP session with one host: any number of messages, one recipient each, because each has its own return path. */
export class Session {
  readonly remote: RemoteHost
  readonly #connection: SMTPConnection
  readonly #extensions: string
  /** IP address of the server; a closed connection no longer has it. */
  readonly #address: string | undefined
  readonly #ended: Promise<void>
  #broken = false
  #messages = 0

  /** @param extensions the server's response to EHLO. */
  private constructor(remote: RemoteHost, connection: SMTPConnection, extensions: string) {
    this.remote = remote
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
  static async open(remote: RemoteHost, ehloName: string, timeouts: Timeouts, signal: AbortSignal): Promise<Session> {
    const connection = new SMTPConnection(connectionOptions(remote, ehloName, timeouts))
    // Every failure also rejects the call that it interrupts; without a listener it would end the process.
    connection.on('error', () => {})
    const cut = (): void => connection.close()
    signal.addEventListener('abort', cut, { once: true })
    try {
      await connect(connection)
      requireDescribed(connection, remote)
      const extensions = connection.lastServerResponse || ''
      if (remote.credentials) await login(connection, remote.credentials)
      return new Session(remote, connection, extensions)
    } catch (error) {
      const upgrading = connection.upgrading === true || isAsking(connection, remote)
      const failure = error instanceof SessionFailedError ? error : sessionFailure(error, remote, upgrading)
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
   * @throws the error of `content` when the message cannot be read.
   */
  async send(envelope: Envelope, content: Readable, signal: AbortSignal): Promise<Sent> {
    const { name } = this.remote
    const first = this.#messages++ === 0
    if (UNICODE.test(envelope.to) && !/[ -]SMTPUTF8\b/i.test(this.#extensions)) {
      content.on('error', () => {}).destroy()
      const text = 'The server does not take internationalized addresses (RFC 6531).'
      return { outcome: refusedBy('5.6.7', text, name) }
    }
    const cut = (): void => this.close()
    signal.addEventListener('abort', cut, { once: true })
    try {
      const { response } = await this.#transfer(envelope, content)
      return { outcome: readReply(response, name, this.#address) }
    } catch (error) {
      const isOver = !first && !content.readableDidRead && endsSession(error)
      // The final dot follows the end of the content. After an answer that comes too early it must never be sent.
      const isWhole = content.readableEnded
      if (content.readableDidRead && !isWhole) this.close()
      const outcome = await this.#failure(error)
      if (signal.aborted || outcome.kind !== 'deferred' || isWhole) return { outcome }
      return { outcome, worthTrying: isOver ? 'new-session' : 'next-host' }
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
    const { name } = this.remote
    if (code === 'ESTREAM') {
      // Part of the message is on the wire; only closing the connection keeps it from counting as complete.
      this.close()
      throw error
    }
    if (response !== undefined) {
      await this.#reset()
      // The server requires TLS, or a login (RFC 3207 4, RFC 4954 6): this concerns the session, not the recipient.
      if (this.remote.tls === 'none' && response.startsWith('530')) return deferredBy('4.7.0', response, name)
      const outcome = readReply(response, name)
      if (command !== 'MAIL FROM') return outcome
      return { ...outcome, verdict: { ...outcome.verdict, isAboutSender: true } }
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
