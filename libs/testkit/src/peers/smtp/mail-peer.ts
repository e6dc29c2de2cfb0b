import type { Socket } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { generate } from 'selfsigned'
import { SMTPServer, type SMTPServerAddress, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { type WaitOptions, waitFor } from '../../timing/wait-for.ts'

/** One mail that the server accepted. */
export interface ReceivedMail {
  readonly mailFrom: string
  /** Recipients of this transaction, as given in RCPT. */
  readonly recipients: readonly string[]
  /** What MAIL declared (RFC 1870), if it did. */
  readonly declaredSize: number | undefined
  readonly raw: Buffer
  /** The raw mail, parsed by an independent library. */
  readonly parsed: ParsedMail
  /** Whether the session was encrypted. */
  readonly secure: boolean
  readonly helo: string
  readonly receivedAt: Date
}

/** How a command is answered: `accept`, a reply line such as `450 4.2.0 try later`, or a broken connection. */
export type PeerAnswer = 'accept' | 'drop' | `${number} ${string}`

export interface MailPeerOptions {
  readonly host?: string
  /** Default: any free port. */
  readonly port?: number
  /** Whether STARTTLS is offered; default true. */
  readonly tls?: boolean
  /** Name in the greeting. */
  readonly name?: string
  /** PEM: what the server shows, its own certificate first; default: one for its name that it signs itself. */
  readonly identity?: { readonly cert: string; readonly key: string }
}

type Done = (error?: Error | null) => void

/**
 * A real external mail server: stores what it accepts and answers as scripted. Without a script it accepts everything.
 */
export class MailPeer {
  readonly mails: ReceivedMail[] = []
  /** Every RCPT that was received, including refused ones. */
  readonly attempts: string[] = []
  /** Connections that were not greeted at once; see `holdGreeting`. */
  greetingsHeld = 0
  readonly host: string
  readonly #options: MailPeerOptions
  readonly #recipients = new Map<string, PeerAnswer[]>()
  readonly #data = new Map<string, PeerAnswer[]>()
  readonly #dataHeld = new Map<string, Promise<void>>()
  readonly #sockets = new Map<number, Socket>()
  #greeting: Promise<void> | undefined
  #server: SMTPServer | undefined
  #port = 0
  #certificate = ''

  constructor(options: MailPeerOptions = {}) {
    this.#options = options
    this.host = options.host ?? '127.0.0.1'
  }

  get port(): number {
    return this.#port
  }

  /** PEM, for the name in the greeting; clients that trust it as an authority accept the server. */
  get certificate(): string {
    return this.#certificate
  }

  async start(): Promise<this> {
    const name = this.#options.name ?? 'peer.test'
    const { cert, key } = this.#options.identity ?? (await ownIdentity(name))
    this.#certificate = cert
    const server = new SMTPServer({
      name,
      cert,
      key,
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: this.#options.tls === false ? ['AUTH', 'STARTTLS'] : ['AUTH'],
      // Scripted replies carry their enhanced codes themselves.
      hideENHANCEDSTATUSCODES: true,
      // Announced, so that clients declare the size of their mails.
      size: 64 * 1024 * 1024,
      closeTimeout: 100,
      onConnect: (_session, done) => void this.#onConnect(done),
      onRcptTo: (address, session, done) => this.#onRecipient(address, session, done),
      onData: (stream, session, done) => void this.#onData(stream, session, done),
    })
    this.#server = server
    // A connection that the other side breaks is not a failure of this server.
    server.on('error', () => undefined)
    server.server.on('connection', (socket: Socket) => {
      const port = socket.remotePort ?? 0
      this.#sockets.set(port, socket)
      socket.once('close', () => this.#sockets.delete(port))
    })
    await new Promise<void>((resolve, reject) => {
      server.server.once('error', reject)
      server.listen(this.#options.port ?? 0, this.host, resolve)
    })
    const address = server.server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    this.#port = address.port
    return this
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.values()) socket.destroy()
    await new Promise<void>((resolve) => (this.#server ? this.#server.close(() => resolve()) : resolve()))
  }

  /** The next RCPTs of an address get these answers, in order; later ones are accepted. */
  answerRecipient(address: string, ...answers: PeerAnswer[]): this {
    this.#recipients.set(address.toLowerCase(), answers)
    return this
  }

  /** The same for the end of DATA of mails to an address; `drop` breaks the connection in the middle of the mail. */
  answerData(address: string, ...answers: PeerAnswer[]): this {
    this.#data.set(address.toLowerCase(), answers)
    return this
  }

  /** Answers the end of DATA of mails to an address only after a promise has resolved. */
  holdData(address: string, until: Promise<void>): this {
    this.#dataHeld.set(address.toLowerCase(), until)
    return this
  }

  /** Greets new connections only after a promise has resolved. */
  holdGreeting(until: Promise<void>): this {
    this.#greeting = until
    return this
  }

  /** Mails that were sent to an address, oldest first. */
  mailsTo(address: string): ReceivedMail[] {
    return this.mails.filter((mail) => mail.recipients.includes(address.toLowerCase()))
  }

  /** Resolves to the first mail to an address that matches, past or future. */
  next(address: string, options: Partial<WaitOptions> & { matches?: (mail: ReceivedMail) => boolean } = {}) {
    const { matches = () => true, ...wait } = options
    return waitFor(() => this.mailsTo(address).find(matches), { what: `a mail to ${address}`, ...wait })
  }

  async #onConnect(done: Done): Promise<void> {
    if (this.#greeting) this.greetingsHeld++
    await this.#greeting
    this.#greeting = undefined
    done()
  }

  #onRecipient(address: SMTPServerAddress, session: SMTPServerSession, done: Done): void {
    const recipient = address.address.toLowerCase()
    this.attempts.push(recipient)
    this.#give(this.#recipients.get(recipient)?.shift() ?? 'accept', session, done)
  }

  async #onData(stream: SMTPServerDataStream, session: SMTPServerSession, done: Done): Promise<void> {
    const { mailFrom, rcptTo } = session.envelope
    const recipients = rcptTo.map(({ address }) => address.toLowerCase())
    const answer = recipients.map((recipient) => this.#data.get(recipient)?.shift()).find(Boolean) ?? 'accept'
    if (answer === 'drop') {
      stream.once('data', () => this.#drop(session))
      stream.resume()
      return
    }
    const raw = await contentOf(stream)
    if (!raw) return
    for (const recipient of recipients) await this.#dataHeld.get(recipient)
    if (answer === 'accept') {
      this.mails.push({
        mailFrom: mailFrom === false ? '' : mailFrom.address,
        recipients,
        declaredSize: declaredSizeOf(mailFrom),
        raw,
        parsed: await simpleParser(raw),
        secure: session.secure,
        helo: session.hostNameAppearsAs,
        receivedAt: new Date(),
      })
    }
    this.#give(answer, session, done)
  }

  #give(answer: PeerAnswer, session: SMTPServerSession, done: Done): void {
    if (answer === 'accept') {
      done()
      return
    }
    if (answer === 'drop') {
      this.#drop(session)
      return
    }
    const [code = '', ...text] = answer.split(' ')
    done(Object.assign(new Error(text.join(' ')), { responseCode: Number(code) }))
  }

  #drop(session: SMTPServerSession): void {
    this.#sockets.get(session.remotePort)?.destroy()
  }
}

async function ownIdentity(name: string): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    curve: 'P-256',
  })
  return { cert, key }
}

/** The whole mail, or `undefined` if the sender disconnected before its end. */
async function contentOf(stream: SMTPServerDataStream): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  } catch {
    return undefined
  }
  return Buffer.concat(chunks)
}

function declaredSizeOf(mailFrom: SMTPServerAddress | false): number | undefined {
  const args = mailFrom === false ? false : mailFrom.args
  return args !== false && 'SIZE' in args ? Number(args.SIZE) : undefined
}
