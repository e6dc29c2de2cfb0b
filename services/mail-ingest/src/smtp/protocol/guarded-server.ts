import { isAscii, isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import type { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { CommandStream } from './command-stream.ts'
import { ProxyHeaderError, takeProxyHeader } from './proxied-socket.ts'

/** Limits for one client. */
export interface SessionLimits {
  /** Time for a complete command, a TLS handshake, and the first bytes of a mail. */
  readonly ms: number
  /** The same, while more than four fifths of the allowed connections are open. */
  readonly underLoadMs: number
  /** Minimum rate of a mail: each time this many bytes have arrived, the time for the rest is extended by a second. */
  readonly bytesPerSecond: number
  /** Most commands since the last accepted mail. */
  readonly commands: number
}

export interface Guard {
  readonly limits: SessionLimits
  /** Whether a header of the PROXY protocol precedes the session of connections from an address. */
  readonly isProxy: (address: string) => boolean
  /** Called with the address of a proxy and what is wrong with its header. */
  readonly proxyRefused: (address: string, problem: string) => void
  /** Whether a connection may stay; called before a byte was exchanged. */
  readonly admit: (connection: SMTPConnection) => boolean
  /** Called when a transaction ended, with a mail or without one. */
  readonly reset: (connection: SMTPConnection) => void
  /** Called with the code of each reply. */
  readonly answered: (code: number) => void
}

type HandledProxy = Parameters<SMTPServer['_handleProxy']>[1]

/** Replies after which a session ends. */
const BROKEN_COMMAND = 521
export const BROKEN_MAIL = 554

/** A reply that contains its own enhanced status code (RFC 2034). */
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /

/** Share of the allowed connections above which the shorter time applies. */
const UNDER_LOAD = 0.8
const SWEEP_MS = 1_000
/** A sweep that is late by more was held up by a pause of the process, for which no client is to blame. */
const PAUSE_MS = 200

/**
 * smtp-server with limits for hostile clients: connections beyond the limits are refused on arrival, not at the
 * greeting; commands are strict (`CommandStream`); and time limits do not restart with each byte, so that a slow drip
 * holds a connection no longer than silence does (Postfix: smtpd_per_request_deadline, smtpd_min_data_rate).
 */
export class GuardedServer extends SMTPServer {
  readonly #guard: Guard
  readonly #sweeper: NodeJS.Timeout
  #sweptAt = performance.now()

  constructor(options: SMTPServerOptions, guard: Guard) {
    super(options)
    this.#guard = guard
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS)
    this.#sweeper.unref()
    this.once('close', () => clearInterval(this.#sweeper))
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new GuardedConnection(this, socket, options ?? null, this.#guard)
    if (!this.#guard.admit(connection)) {
      turnAway(socket)
      return
    }
    this.connections.add(connection)
    connection.on('error', (error) => this._onError(error))
    connection.on('connect', (info) => this._onClientConnect(info))
    connection.init()
  }

  // Called by the base class, which bounds how many connections wait here, before TLS and before `connect`.
  override _expectsProxyHeader(socket: Socket): boolean {
    return this.#guard.isProxy(socket.remoteAddress ?? '')
  }

  /** The base class reads version 1 only, and leniently. */
  override _handleProxy(socket: Socket, callback: HandledProxy): void {
    if (!this._expectsProxyHeader(socket)) {
      super._handleProxy(socket, callback)
      return
    }
    const id = randomUUID()
    const proxy = socket.remoteAddress ?? ''
    takeProxyHeader(socket).then(
      (client) => callback(null, client ? { id, remoteAddress: client.address, remotePort: client.port } : { id }),
      (error: Error) => {
        if (error instanceof ProxyHeaderError) this.#guard.proxyRefused(proxy, error.message)
        callback(error)
      },
    )
  }

  #sweep(): void {
    const now = performance.now()
    const lateMs = now - this.#sweptAt - SWEEP_MS
    this.#sweptAt = now
    const { ms, underLoadMs, bytesPerSecond } = this.#guard.limits
    const isUnderLoad = this.connections.size > UNDER_LOAD * (this.options.maxClients ?? Number.POSITIVE_INFINITY)
    const limitMs = isUnderLoad ? underLoadMs : ms
    for (const connection of this.connections) {
      if (!(connection instanceof GuardedConnection)) continue
      // What arrived while this process stood still is not read yet.
      if (lateMs > PAUSE_MS) connection.excuse(lateMs)
      connection.enforceLimit(limitMs, bytesPerSecond)
    }
  }
}

function turnAway(socket: Socket): void {
  // Later errors of this socket do not matter.
  socket.on('error', () => {})
  socket.end('421 4.7.0 Too many connections from your address, try again later\r\n', () => socket.destroy())
}

class GuardedConnection extends SMTPConnection {
  readonly #guard: Guard
  #commands = 0
  /** Time of the last reply to the client: since then it is the client's turn. */
  #repliedAt = performance.now()

  constructor(server: SMTPServer, socket: Socket, options: SMTPConnectionOptions | null, guard: Guard) {
    super(server, socket, options)
    this.#guard = guard
  }

  override _resetSession(): void {
    super._resetSession()
    this.#guard.reset(this)
  }

  // Called by the constructor of the base class, too, before the fields of this class exist.
  override _createParser(): CommandStream {
    const parser = new CommandStream((problem) => this.#refuse(problem))
    parser.onproxyheader = () => this.#refuseProxyHeader()
    parser.oncommand = (command, callback) => this._onCommand(command, callback)
    parser.on('error', (error) => this.send(421, `Error: ${error.message}`))
    return parser
  }

  override _onCommand(command: Buffer, callback: () => void = () => {}): void {
    this.#commands++
    if (this.#commands > this.#guard.limits.commands) {
      this.send(421, '4.7.0 Too many commands without a mail', false)
      return
    }
    if (isAscii(command) || this.#mayBeUtf8(command)) {
      super._onCommand(command, callback)
      return
    }
    this.send(553, '5.6.7 Characters outside ASCII need SMTPUTF8', false)
    callback()
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    this.#repliedAt = performance.now()
    this.#guard.answered(code)
    if (context === 'DATA_OK' && code === 250) this.#commands = 0
    const named = typeof data === 'string' && ENHANCED.test(data)
    super.send(code, data, named ? false : context)
    // After a violation of the line rules nothing more is read: the end of the mail is uncertain.
    if (code === BROKEN_COMMAND || (code === BROKEN_MAIL && !named)) this.close()
  }

  /** Gives the client more time. */
  excuse(ms: number): void {
    this.#repliedAt = Math.min(performance.now(), this.#repliedAt + ms)
  }

  /**
   * Ends the connection when the client has taken too long to send what it has to: longer than `ms`, plus a second for
   * each `bytesPerSecond` bytes of its mail.
   */
  enforceLimit(ms: number, bytesPerSecond: number): void {
    const parser = this._parser
    if (!parser || this.#isOurTurn(parser)) return
    const content = parser._dataMode ? parser.dataBytes : 0
    if (performance.now() - this.#repliedAt <= ms + (content * 1_000) / Math.max(1, bytesPerSecond)) return
    this.send(421, '4.4.2 Too slow, try again later', false)
  }

  #isOurTurn(parser: SMTPStream): boolean {
    if (!this._ready || this._handlerPending) return true
    // The mail has arrived, but its reply was not sent yet.
    if (this._dataStream && !parser._dataMode) return true
    // There is unprocessed input, and the client does not leave replies unread.
    return parser.writableLength > 0 && !this._socket.writableNeedDrain
  }

  /** RFC 6531 3.4, 3.5: only in the addresses of a transaction that requested it. */
  #mayBeUtf8(command: Buffer): boolean {
    if (!isUtf8(command)) return false
    const text = command.toString()
    return /^mail /i.test(text) ? /\sSMTPUTF8(?:\s|$)/i.test(text) : /^rcpt /i.test(text) && this.#asksForUtf8()
  }

  #asksForUtf8(): boolean {
    return this.session.envelope.smtpUtf8 === true
  }

  #refuseProxyHeader(): void {
    this.#guard.proxyRefused(this.remoteAddress, 'a header from an address outside of SMTP_PROXY_NETWORKS')
    this.send(BROKEN_MAIL, 'No PROXY header is accepted from your address')
  }

  #refuse(problem: string): void {
    const rule = 'commands are short lines that end with CR LF (RFC 5321)'
    this.send(BROKEN_COMMAND, `5.5.2 Refused for ${problem}: ${rule}`, false)
  }
}
