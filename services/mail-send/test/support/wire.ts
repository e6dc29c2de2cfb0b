import { connect, createServer, type Socket } from 'node:net'
import { listenOn } from './listen.ts'

/** A TCP proxy between a process and its database that a test can cut. */
export class Wire {
  readonly url: string
  readonly #sockets = new Set<Socket>()
  readonly #server
  #down = false
  #cutAfterCommitOf: string | undefined

  private constructor(url: string, server: ReturnType<typeof createServer>) {
    this.url = url
    this.#server = server
  }

  static async start(target: string): Promise<Wire> {
    const url = new URL(target)
    const upstream = { host: url.hostname, port: Number(url.port) }
    const server = createServer()
    url.host = `127.0.0.1:${await listenOn(server)}`
    const wire = new Wire(url.href, server)
    server.on('connection', (socket) => wire.#join(socket, connect(upstream)))
    return wire
  }

  /** Breaks every connection and refuses new ones until `restore`. */
  cut(): void {
    this.#down = true
    for (const socket of this.#sockets) socket.destroy()
  }

  get isDown(): boolean {
    return this.#down
  }

  restore(): void {
    this.#down = false
  }

  /**
   * Lets the commit of one transaction reach the database, and cuts the connection before its answer. The service commits
   * for other reasons at the same time, so the transaction is recognised by a text among its parameters.
   */
  cutAfterCommitOf(text: string): void {
    this.#cutAfterCommitOf = text
  }

  async stop(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(client: Socket, server: Socket): void {
    if (this.#down) {
      client.destroy()
      server.destroy()
      return
    }
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    server.on('data', (bytes) => client.write(bytes))
    let hasText = false
    client.on('data', (bytes) => {
      server.write(bytes)
      if (this.#cutAfterCommitOf === undefined) return
      const sent = bytes.toString('latin1')
      hasText = sent.includes(this.#cutAfterCommitOf) || (hasText && !/begin[a-z ]*\0/i.test(sent))
      if (!hasText || !/commit\0/i.test(sent)) return
      this.#cutAfterCommitOf = undefined
      server.removeAllListeners('data')
      server.once('data', () => this.cut())
    })
  }
}
