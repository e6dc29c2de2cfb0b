import { createServer, type Server, type Socket } from 'node:net'

/**
 * Where in a session a server may misbehave: at its greeting, in its answer to a command or to the end of DATA, or at a
 * line of the content, to which it gives no answer otherwise.
 */
export type Moment = 'greeting' | 'EHLO' | 'STARTTLS' | 'MAIL' | 'RCPT' | 'DATA' | 'content' | 'end of DATA'

/** A reply that ends the session where it is a 421; silence; or a closed connection. */
export type Fault = `${number} ${string}` | 'hang' | 'drop'

export interface Faults {
  readonly at: Moment
  readonly fault: Fault
  /** Sessions that suffer it. */
  readonly times: number
}

const REPLIES: Readonly<Record<Exclude<Moment, 'content'>, string>> = {
  greeting: '220 hostile.test ESMTP',
  EHLO: '250-hostile.test\r\n250-STARTTLS\r\n250 ENHANCEDSTATUSCODES',
  STARTTLS: '454 4.7.0 TLS not available',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  'end of DATA': '250 2.0.0 taken',
}
const COMMANDS = ['EHLO', 'STARTTLS', 'MAIL', 'RCPT', 'DATA'] as const

/** An SMTP server that fails at one moment, a number of times; then it behaves. */
export class HostileServer {
  /** Recipients of mails that it had whole, whatever it answered then. */
  readonly taken: string[] = []
  #left: number
  readonly #faults: Faults
  readonly #sockets = new Set<Socket>()
  readonly #server: Server = createServer((socket) => this.#serve(socket))

  constructor(faults: Faults) {
    this.#faults = faults
    this.#left = faults.times
  }

  async start(port: number, host: string): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, host, resolve))
    return this
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    let recipient = ''
    let isData = false
    let pending = ''
    this.#answer(socket, 'greeting')
    socket.on('data', (bytes) => {
      const lines = (pending + bytes.toString('latin1')).split('\r\n')
      pending = lines.pop() ?? ''
      for (const line of lines) {
        if (isData && line !== '.') {
          this.#answer(socket, 'content')
          continue
        }
        if (isData) this.taken.push(recipient)
        const moment = isData ? 'end of DATA' : COMMANDS.find((command) => line.startsWith(command))
        if (moment === 'RCPT') recipient = /<([^>]*)>/.exec(line)?.[1] ?? ''
        if (moment) isData = this.#answer(socket, moment) && moment === 'DATA'
        else if (line.startsWith('QUIT')) socket.end('221 2.0.0 bye\r\n')
        else if (!socket.destroyed) socket.write('250 2.0.0 ok\r\n')
      }
    })
  }

  /** @returns whether it behaved. */
  #answer(socket: Socket, moment: Moment): boolean {
    if (socket.destroyed || socket.writableEnded) return false
    const { at, fault } = this.#faults
    const fails = moment === at && this.#left > 0
    if (!fails) {
      if (moment !== 'content') socket.write(`${REPLIES[moment]}\r\n`)
      return true
    }
    this.#left--
    if (fault === 'drop') socket.destroy()
    else if (fault.startsWith('421')) socket.end(`${fault}\r\n`)
    else if (fault !== 'hang') socket.write(`${fault}\r\n`)
    return false
  }
}
