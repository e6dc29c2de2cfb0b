import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** One reply of an SMTP server, its lines joined. */
export interface SmtpReply {
  readonly code: number
  readonly text: string
}

/** An SMTP session line by line, for input that no correct client sends, and for exact replies. */
export class SmtpSession {
  #socket: Socket | TLSSocket
  #buffer = ''
  #waiting: ((reply: SmtpReply) => void) | undefined
  #broken: ((error: Error) => void) | undefined
  #replies: SmtpReply[] = []
  #lines: string[] = []
  #ended: Error | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#listen(socket)
  }

  /** Connects and reads the greeting. @param options `first`: bytes that precede the session, as a proxy sends them. */
  static async open(
    port: number,
    options: { host?: string; localAddress?: string; first?: string } = {},
  ): Promise<SmtpSession> {
    const { host = '127.0.0.1', localAddress, first } = options
    const socket = connect({ host, port, ...(localAddress !== undefined && { localAddress }) })
    const session = new SmtpSession(socket)
    if (first !== undefined) socket.write(first)
    await session.reply()
    return session
  }

  /** Sends a line and resolves to its reply. */
  async command(line: string): Promise<SmtpReply> {
    this.write(`${line}\r\n`)
    return this.reply()
  }

  /** Sends bytes unchanged. */
  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Reads the next reply. @throws Error when the connection ends first. */
  reply(): Promise<SmtpReply> {
    const ready = this.#replies.shift()
    if (ready) return Promise.resolve(ready)
    if (this.#ended) return Promise.reject(this.#ended)
    return new Promise((resolve, reject) => {
      this.#waiting = resolve
      this.#broken = reject
    })
  }

  /** Sends EHLO, MAIL and RCPT. @returns the reply to the last RCPT. */
  async envelope(from: string, ...recipients: string[]): Promise<SmtpReply> {
    await this.command('EHLO client.test')
    let reply = await this.command(`MAIL FROM:<${from}>`)
    for (const recipient of recipients) reply = await this.command(`RCPT TO:<${recipient}>`)
    return reply
  }

  /** Sends DATA with a mail of CRLF lines; dots are stuffed. */
  async data(mail: string): Promise<SmtpReply> {
    const go = await this.command('DATA')
    if (go.code !== 354) return go
    return this.command(`${mail.replace(/^\./gm, '..')}\r\n.`)
  }

  /** Starts TLS and accepts any certificate, as other mail servers do. */
  async startTls(): Promise<void> {
    const reply = await this.command('STARTTLS')
    if (reply.code !== 220) throw new Error(`STARTTLS was answered ${reply.code} ${reply.text}`)
    this.#socket.removeAllListeners()
    const secure = connectTls({ socket: this.#socket, rejectUnauthorized: false })
    this.#listen(secure)
    this.#socket = secure
    await once(secure, 'secureConnect')
  }

  /** Breaks the connection. */
  drop(): void {
    this.#socket.destroy()
  }

  async quit(): Promise<void> {
    await this.command('QUIT').catch(() => undefined)
    this.#socket.destroy()
  }

  #listen(socket: Socket | TLSSocket): void {
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => this.#take(text))
    socket.on('error', (error) => this.#end(error))
    socket.on('close', () => this.#end(new Error('the server closed the connection')))
  }

  #take(text: string): void {
    this.#buffer += text
    const lines = this.#buffer.split('\r\n')
    this.#buffer = lines.pop() ?? ''
    for (const line of lines) {
      this.#lines.push(line.slice(4))
      if (line[3] === '-') continue
      this.#deliver({ code: Number(line.slice(0, 3)), text: this.#lines.join('\n') })
      this.#lines = []
    }
  }

  #deliver(reply: SmtpReply): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting(reply)
    else this.#replies.push(reply)
  }

  #end(error: Error): void {
    this.#ended ??= error
    if (this.#waiting) this.#broken?.(this.#ended)
    this.#waiting = undefined
  }
}
