import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { waitFor } from '@restante/testkit'

/** A peer that sends bytes as it likes, and hears what is said. */
export class Peer {
  readonly socket: Socket
  /** Everything that the server has said. */
  said = ''
  isClosed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      this.said += text
    })
    // A reset is an end like any other.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
    })
  }

  /** Connects without waiting for a greeting. @param localAddress what the server believes the peer to be */
  static async connect(port: number, localAddress = '127.0.0.1'): Promise<Peer> {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    await once(socket, 'connect')
    return new Peer(socket)
  }

  /** Connects and takes the greeting. */
  static async greeted(port: number, localAddress?: string): Promise<Peer> {
    const peer = await Peer.connect(port, localAddress)
    await peer.hears(/^220 .*\r\n/)
    return peer
  }

  /** The codes of all replies, those of continued lines once. */
  get codes(): number[] {
    return [...this.said.matchAll(/^(\d{3})(?: .*)?\r\n/gm)].map(([, code]) => Number(code))
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1')
  }

  /** Sends bytes one by one, each in a packet of its own. */
  async sendBytes(bytes: string): Promise<void> {
    for (const byte of bytes) {
      this.send(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Sends the same bytes again and again until the connection ends, or the function that is returned is called. */
  drip(bytes: string, everyMs: number): () => void {
    const timer = setInterval(() => this.send(bytes), everyMs)
    this.socket.on('close', () => clearInterval(timer))
    return () => clearInterval(timer)
  }

  hears(pattern: RegExp): Promise<true> {
    return waitFor(async () => pattern.test(this.said), { what: `${pattern} in ${JSON.stringify(this.said)}` })
  }

  /** Forgets what was said, sends a line, and resolves to the one reply. */
  async command(line: string): Promise<{ code: number; text: string }> {
    this.said = ''
    this.send(`${line}\r\n`)
    await waitFor(async () => this.isClosed || this.codes.length > 0, { what: `an answer to ${line.slice(0, 100)}` })
    return { code: this.codes[0] ?? 0, text: this.said }
  }

  async closed(): Promise<void> {
    await waitFor(async () => this.isClosed, { what: 'the connection to end' })
  }

  /** From EHLO to the invitation to send the mail. */
  async begin(recipient: string): Promise<void> {
    await this.command('EHLO evil.test')
    await this.command('MAIL FROM:<eve@evil.test>')
    await this.command(`RCPT TO:<${recipient}>`)
    await this.command('DATA')
    this.said = ''
  }

  drop(): void {
    this.socket.destroy()
  }
}
