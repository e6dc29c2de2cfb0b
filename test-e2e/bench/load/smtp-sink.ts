import { createServer, type Server, type Socket } from 'node:net'
import { freePort } from '@restante/testkit'

/** When a mail for one recipient had arrived whole, in Unix milliseconds. */
export interface SunkMail {
  readonly recipient: string
  readonly at: number
}

const END = Buffer.from('\r\n.\r\n')

/** An SMTP server that takes everything, keeps nothing but recipients, and costs as little as it can. */
export class SmtpSink {
  readonly mails: SunkMail[] = []
  port = 0
  readonly #sockets = new Set<Socket>()
  readonly #server: Server = createServer((socket) => {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.write('220 sink ESMTP\r\n')
    this.#serve(socket)
  })

  async start(): Promise<this> {
    this.port = await freePort()
    await new Promise<void>((resolve) => this.#server.listen(this.port, '127.0.0.1', resolve))
    return this
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: Socket): void {
    let pending = Buffer.alloc(0)
    let recipient = ''
    let isData = false
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      for (;;) {
        const end = isData ? pending.indexOf(END) : pending.indexOf('\n')
        if (end < 0) return
        const line = isData ? '' : pending.subarray(0, end).toString('latin1').trim()
        pending = pending.subarray(end + (isData ? END.length : 1))
        if (isData) {
          this.mails.push({ recipient, at: Date.now() })
          isData = false
          socket.write('250 2.0.0 taken\r\n')
          continue
        }
        const verb = line.slice(0, 4).toUpperCase()
        if (verb === 'RCPT') recipient = /<([^>]*)>/.exec(line)?.[1] ?? ''
        isData = verb === 'DATA'
        socket.write(answerTo(verb))
        if (verb === 'QUIT') socket.end()
      }
    })
  }
}

function answerTo(verb: string): string {
  if (verb === 'EHLO')
    return '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SIZE 50000000\r\n250 ENHANCEDSTATUSCODES\r\n'
  if (verb === 'DATA') return '354 go on\r\n'
  return verb === 'QUIT' ? '221 2.0.0 bye\r\n' : '250 2.0.0 ok\r\n'
}
